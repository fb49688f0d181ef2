// The page's languages. English is in the code; another language is a catalogue from those sentences to its own.
//
//   t("{op} waits for {other}", { op, other })      a sentence of the page
//   tr(message)                                     a sentence of the server, by its code and params
//
// The page's texts are their own keys, with {holes}; a text that a catalogue lacks stays English. The server's
// catalogue has templates by code, and words (kinds, groups, units) by themselves.

/** @typedef {Record<string, string>} Catalogue  English to another language, both with the same {holes} */

const HOLE = /\{(\w+)\}/g;

/** @type {Catalogue} */
let catalogue = {};
/** @type {Catalogue} */
let servers = {};
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
  const template = Object.hasOwn(catalogue, text) ? catalogue[text] : text;
  return values ? fill(template, values) : template;
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
  if (Object.hasOwn(servers, text)) return servers[text];
  return Object.hasOwn(catalogue, text) ? catalogue[text] : text;
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
