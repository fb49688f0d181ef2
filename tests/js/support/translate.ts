// Reads lists of the server's texts, plain or with codes, each a line of JSON, and writes them in Chinese.
import { SERVERS, TEXTS } from "./chinese.ts";
import { answerLines } from "./helpers.ts";
import { speak, tr } from "../../../static/js/core/i18n/language.ts";

speak("zh", TEXTS, SERVERS);
await answerLines((texts: string[]) => texts.map((text) => tr(text)));
