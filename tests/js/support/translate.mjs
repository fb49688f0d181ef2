// Reads a JSON list of the server's texts, plain or with codes, and writes them in Chinese.
import { readFileSync } from "node:fs";
import { SERVERS, TEXTS } from "../../../static/js/core/i18n/zh/zh.js";
import { speak, tr } from "../../../static/js/core/i18n/language.js";

speak("zh", TEXTS, SERVERS);
console.log(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map((/** @type {string} */ text) => tr(text))));
