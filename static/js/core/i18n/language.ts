// The page's languages. English is in the code; another language is a catalogue from those sentences to its own.
//
//   t("{op} waits for {other}", { op, other })      a sentence of the page
//   tr(message)                                     a sentence of the server, by its code and params
//
// The page's texts are their own keys, with {holes}; a text that a catalogue lacks stays English. The server's
// catalogue has templates by code, and words (kinds, groups, units) by themselves.

/** English to another language, both with the same {holes}. */
export type Catalogue = Record<string, string>;

const HOLE = /\{(\w+)\}/g;

let catalogue: Catalogue = {};
let servers: Catalogue = {};
let code = "en";

/** language: "en", "zh"; texts: of the page; written: by the server. */
export function speak(language: string, texts: Catalogue, written: Catalogue = {}) {
  code = language;
  catalogue = texts;
  servers = written;
}

/** The language spoken now, as in lang="...". */
export const language = () => code;

const fill = (text: string, values: Record<string, unknown>) =>
  text.replace(HOLE, (hole, name) => (name in values ? String(values[name]) : hole));

/**
 * A text of the page in the reader's language. The text must be a literal: a test reads them out of the source. values:
 * by the names of its holes.
 */
export function t(text: string, values?: Record<string, unknown>) {
  const template = Object.hasOwn(catalogue, text) ? catalogue[text] : text;
  return values ? fill(template, values) : template;
}

/** A sentence of the server as it is sent: its code, what fills its holes, and its English. */
export type Message = { code: string; params: Record<string, Param>; message: string };
type Param = string | number | boolean | null | Message | (string | number | Message)[];

/**
 * A sentence of the server in the reader's language: by its code and params where it has them; a plain text where a
 * catalogue has it, else as it is.
 */
export function tr(text: string | (Partial<Message> & { message: string }) | null | undefined): string {
  if (!text) return "";
  if (typeof text !== "string") return fromCode(text);
  if (Object.hasOwn(servers, text)) return servers[text];
  return Object.hasOwn(catalogue, text) ? catalogue[text] : text;
}

function fromCode({ code: name = "", params, message }: Partial<Message> & { message: string }) {
  const template = Object.hasOwn(servers, name) ? servers[name] : undefined;
  if (template === undefined) return tr(message);
  const shown = Object.entries(params ?? {}).map(([hole, value]) => [hole, shownParam(value)]);
  return fill(template, Object.fromEntries(shown));
}

function shownParam(value: Param): string {
  if (Array.isArray(value)) return value.map(shownParam).join(t(", "));
  return value !== null && typeof value === "object" ? fromCode(value) : String(value);
}
