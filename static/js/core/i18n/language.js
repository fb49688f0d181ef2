// The page's languages. English stands in the code; another language is a catalogue from those sentences to its own.
//
//   t("{op} waits for {other}", { op, other })      a sentence of the page
//   tr(message)                                     a sentence that the server wrote, found again by its pattern
//
// A catalogue's keys are the English texts as they stand in the code, with {holes}; a sentence it lacks stays English.
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

/** A text that was written elsewhere (the server), in the reader's language where a catalogue knows its pattern.
 * @param {string} text @returns {string} */
export function tr(text) {
  if (code === "en" || !text) return text;
  readers ??= [reader(servers), reader(catalogue)];
  const [written, own] = readers;
  const found = written(text);
  if (found.left < 1) return found.said;
  const other = own(text);
  return other.left < found.left ? other.said : found.said;
}
