// Writes static/js/component/zh.js: of the Chinese catalogue what <bubble-line> says, because all of it is too
// large. `node tests/js/support/component_texts.mjs` writes; a test holds the file up to date.
import { readFileSync, writeFileSync } from "node:fs";
import { SERVERS, TEXTS } from "../../../static/js/core/i18n/zh/zh.js";
import { readSources } from "./page_texts.js";

const ROOT = new URL("../../../", import.meta.url);
export const CATALOGUE = new URL("static/js/component/zh.js", ROOT);
const ENTRY = "static/js/bubble_line.js";
const IMPORT = /^(?:import|\} from|export .* from).*"(\..*\.js)";$/gm;
const CODE = /"(\w+)",\n?\s*[`"]/g;

/** The modules that a module needs, and itself. @param {string} path @param {Set<string>} [found] */
function modules(path, found = new Set()) {
  if (found.has(path)) return found;
  found.add(path);
  for (const [, name] of readFileSync(new URL(path, ROOT), "utf8").matchAll(IMPORT)) {
    const there = new URL(name, new URL(path, ROOT)).href.slice(ROOT.href.length);
    if (there !== "static/js/component/zh.js") modules(there, found);
  }
  return found;
}

const LONGEST = 100; // characters of a literal on one line

/** Literals put together with + where one would be too long. @param {string} text */
function literal(text) {
  const parts = text.match(new RegExp(`.{1,${LONGEST}}`, "gu")) ?? [""];
  return parts.map((part) => JSON.stringify(part)).join(" +\n    ");
}

/** @param {string[]} keys @param {Record<string, string>} from */
const entries = (keys, from) =>
  [...new Set(keys)]
    .sort()
    .map((key) => `  [${literal(key)}]:\n    ${literal(from[key])},\n`)
    .join("");

/** The text of the module. */
export function written() {
  const parts = modules(ENTRY);
  const texts = readSources()
    .texts.filter(({ file }) => parts.has(file))
    .map(({ text }) => text);
  const legal = readFileSync(new URL("static/js/core/families/legal.js", ROOT), "utf8");
  const codes = [...legal.matchAll(CODE)].map(([, name]) => `schedule.${name}`).filter((code) => code in SERVERS);
  return (
    "// Of the Chinese catalogue what the component says.\n" +
    "// Written from core/i18n/zh by `node tests/js/support/component_texts.mjs`.\n\n" +
    '/** @import {Catalogue} from "../core/i18n/language.js" */\n\n' +
    `/** @type {Catalogue} */\nexport const TEXTS = {\n${entries(texts, TEXTS)}};\n\n` +
    `/** Refusals of the families. @type {Catalogue} */\nexport const SERVERS = {\n${entries(codes, SERVERS)}};\n`
  );
}

if (process.argv[1] === new URL(import.meta.url).pathname) writeFileSync(CATALOGUE, written());
