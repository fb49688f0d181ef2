// The page's languages. English is in the code; another language is a catalogue from those sentences to its own.
//
//   t("{op} waits for {other}", { op, other })      a sentence of the page
//   tr(message)                                     a sentence that the server wrote, found again by its pattern
//
// A catalogue's keys are the English texts as they are in the code, with {holes}; a sentence it lacks stays English.
// The server's have a catalogue of their own, for a word may mean one thing on a button and another in a chart.
import { reader } from "./reader.js";

/** @typedef {Record<string, string>} Catalogue  English to another language, both with the same {holes} */

const HOLE = /\{(\w+)\}/g;

/** @type {Catalogue} */
let catalogue = {};
/** @type {Catalogue} */
let servers = {};
/** @type {import("./reader.js").Read[] | null} reads the server's sentences, else the page's; made when first needed */
let readers = null;
let code = "en";

/**
 * @param {string} language "en", "zh"
 * @param {Catalogue} texts of the page
 * @param {Catalogue} [written] by the server
 */
export function speak(language, texts, written = {}) {
  code = language;
  catalogue = texts;
  servers = written;
  readers = null;
}

/** The language spoken now, as in lang="...". */
export const language = () => code;

/** @param {string} text @param {Record<string, unknown>} values */
const fill = (text, values) => text.replace(HOLE, (hole, name) => (name in values ? String(values[name]) : hole));

/**
 * A text of the page in the reader's language. The text must be a literal: a test reads them out of the source.
 * @param {string} text @param {Record<string, unknown>} [values] by the names of its holes
 */
export function t(text, values) {
  const said = Object.hasOwn(catalogue, text) ? catalogue[text] : text;
  return values ? fill(said, values) : said;
}

/**
 * A sentence of the server as it is sent: its code, what fills its holes, and its English.
 * @typedef {{code: string, params: Record<string, Param>, message: string}} Message
 */
/** @typedef {string | number | boolean | null | Message | (string | number | Message)[]} Param */

/**
 * A sentence of the server in the reader's language: by its code and params where it has them; a plain text where a
 * catalogue has it, else as it is.
 * @param {string | (Partial<Message> & {message: string}) | null | undefined} text @returns {string}
 */
export function tr(text) {
  if (!text) return "";
  if (typeof text !== "string") return fromCode(text);
  if (code === "en") return text;
  readers ??= [reader(servers), reader(catalogue)];
  const [written, own] = readers;
  const found = written(text);
  if (found.left < 1) return found.said;
  const other = own(text);
  return other.left < found.left ? other.said : found.said;
}

/** @param {Partial<Message> & {message: string}} message */
function fromCode({ code: name = "", params, message }) {
  const template = Object.hasOwn(servers, name) ? servers[name] : undefined;
  if (template === undefined) return tr(message);
  const shown = Object.entries(params ?? {}).map(([hole, value]) => [hole, shownParam(value)]);
  return fill(template, Object.fromEntries(shown));
}

/** @param {Param} value @returns {string} */
function shownParam(value) {
  if (Array.isArray(value)) return value.map(shownParam).join(t(", "));
  return value !== null && typeof value === "object" ? fromCode(value) : String(value);
}
