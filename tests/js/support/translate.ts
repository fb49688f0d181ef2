// Reads a JSON list of the server's texts, plain or with codes, and writes them in Chinese.
import { readFileSync } from "node:fs";
import { SERVERS, TEXTS } from "./chinese.ts";
import { speak, tr } from "../../../static/js/core/i18n/language.ts";

speak("zh", TEXTS, SERVERS);
console.log(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map((text: string) => tr(text))));
