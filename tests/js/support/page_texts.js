// Reads the page's texts from its source: arguments of t(...), HTML marked with data-t, and anything that looks like a
// text for readers but is neither.
import { readFileSync, readdirSync } from "node:fs";
import { parse } from "acorn";
import { ancestor } from "acorn-walk";

const ROOT = new URL("../../../", import.meta.url);
const SOURCES = "static/js/";
const CATALOGUE = "static/js/core/i18n/zh/";
const TEMPLATES = "templates/";

/**
 * @typedef {{file: string, line: number, text: string, names: string[] | null, partly: boolean}} PageText names: of the
 *   values given for its holes, null where they are not spelt out; partly: filled(...) puts elements into the others
 */
/** @typedef {{file: string, line: number, text: string}} Place */

const paths = (/** @type {string} */ folder, /** @type {string} */ ending) =>
  readdirSync(new URL(folder, ROOT), { recursive: true })
    .map((name) => folder + String(name))
    .filter((name) => name.endsWith(ending) && !name.startsWith(CATALOGUE))
    .sort();
const read = (/** @type {string} */ path) => readFileSync(new URL(path, ROOT), "utf8");

/**
 * The text of a literal, or of literals put together with +; null for anything else.
 * @param {any} node
 * @returns {string | null}
 */
function literal(node) {
  if (node?.type === "Literal" && typeof node.value === "string") return node.value;
  if (node?.type === "TemplateLiteral" && !node.expressions.length) return node.quasis[0].value.cooked;
  if (node?.type !== "BinaryExpression" || node.operator !== "+") return null;
  const [left, right] = [literal(node.left), literal(node.right)];
  return left === null || right === null ? null : left + right;
}

/**
 * The names of an object literal's properties; null where they are not all spelt out.
 * @param {any} node
 * @returns {string[] | null}
 */
function namesOf(node) {
  if (!node) return [];
  if (
    node.type !== "ObjectExpression" ||
    node.properties.some((/** @type {any} */ each) => each.type !== "Property" || each.computed)
  )
    return null;
  return node.properties.map((/** @type {any} */ { key }) => key.name ?? key.value);
}

/** A node's callee by its name: t of t(...), setText of dom.setText(...). @param {any} node */
const calleeOf = ({ callee }) => callee?.name ?? callee?.property?.name ?? "";

/** The holes of a text. @param {string} text */
export const holesOf = (text) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);

// -- strings with letters that are not texts for readers

const wordSet = (/** @type {string} */ list) => new Set(list.trim().split(/\s+/));

/** Positions of values that only the program reads. */
const PROGRAM_KEYS = wordSet(`
  class id type role for href rel key kind tag method mode cursor inputmode viewBox Accept Prefer scope d path font
  behavior block transform style stroke fill name value field credentials
`);
const PROGRAM_CALLS = wordSet(`
  querySelector querySelectorAll closest matches getContext addEventListener removeEventListener createElementNS
  createElement getElementById byId matchMedia toggle add remove contains getPropertyValue startsWith endsWith
  includes split invalidate colour onStage Error RangeError TypeError RegExp fetch ask getJson postJson emit on off
  observe measure mark getAnswer hasAttribute getAttribute removeAttribute toggleAttribute setProperty
  removeProperty append set get has delete getItem setItem join replaceAll test Worker dispatchEvent
`);
const TEXT_KEYS = wordSet(`
  text title aria-label ariaLabel placeholder aria-roledescription aria-valuetext alt textContent label hint legend
  caption
`);
/** Calls that show their arguments, by which of these. @type {Record<string, (at: number) => boolean>} */
const TEXT_CALLS = {
  h: (at) => at >= 2,
  setText: (at) => at === 1,
  replace: (at) => at >= 1,
  fillText: (at) => at === 0,
  toast: (at) => at === 0,
  tell: (at) => at === 0,
  say: (at) => at === 0,
  complain: () => true,
};
const WORD = /\p{L}{2,}/u;
const PROSE = /\p{L}{2,}[,:;.]? (?:\p{L}{2,}|\{)|^[A-Z][a-z]{2,}\b(?!\w*[A-Z.])/u;

/** Classifies a node: "program" for internal values, "text" for texts that are shown, "" where it may be either.
 * @param {any[]} up from the node to the root */
function place(up) {
  for (let at = 1; at < up.length; at++) {
    const [node, child] = [up[at], up[at - 1]];
    if (
      ["TemplateLiteral", "ConditionalExpression", "LogicalExpression", "ArrayExpression", "SpreadElement"].includes(
        node.type,
      )
    ) {
      if (node.test === child) return "program";
      continue;
    }
    if (node.type === "BinaryExpression") {
      if (node.operator !== "+") return "program";
      continue;
    }
    if (
      /^(Import|Export.*From|ExportAll|SwitchCase|Throw|TaggedTemplate)/.test(node.type) ||
      (node.type === "ExportNamedDeclaration" && node.source)
    )
      return "program";
    if (node.type === "MemberExpression")
      return node.property === child || node.property.name === "split" ? "program" : ""; // a list of words is no text
    if (node.type === "Property") return ofKey(node, child);
    if (node.type === "AssignmentExpression" && node.left.type === "MemberExpression")
      return TEXT_KEYS.has(node.left.property.name) ? "text" : "";
    if (node.type === "CallExpression" || node.type === "NewExpression") return ofCall(node, child);
    return "";
  }
  return "";
}

/** @param {any} node a property @param {any} child */
function ofKey(node, child) {
  if (node.key === child) return "program";
  const key = node.key.name ?? node.key.value;
  return TEXT_KEYS.has(key) ? "text" : PROGRAM_KEYS.has(key) || String(key).startsWith("data-") ? "program" : "";
}

/** @param {any} node a call @param {any} child */
function ofCall(node, child) {
  const name = calleeOf(node);
  const at = node.arguments.indexOf(child);
  if (name === "t" || name === "tr") return at === 0 ? "program" : "";
  if (name === "setAttribute") return at === 1 && TEXT_KEYS.has(node.arguments[0].value) ? "text" : "program";
  if (TEXT_CALLS[name])
    return TEXT_CALLS[name](at) && !(name === "replace" && node.callee.type === "MemberExpression")
      ? "text"
      : "program";
  return PROGRAM_CALLS.has(name) ? "program" : "";
}

/** The text of a string or template, with {} in place of its expressions. @param {any} node */
const wordsOf = (node) =>
  node.type === "TemplateLiteral"
    ? node.quasis.map((/** @type {any} */ { value }) => value.cooked).join("{}")
    : String(node.value);

/** Collects the texts of a source, calls of t without a literal text, and untranslated texts.
 * @param {string} file @param {string} code @returns {{texts: PageText[], odd: Place[], bare: Place[]}} */
export function textsOf(file, code) {
  /** @type {{texts: PageText[], odd: Place[], bare: Place[]}} */
  const found = { texts: [], odd: [], bare: [] };
  const tree = parse(code, { ecmaVersion: 2025, sourceType: "module", locations: true });
  const imported =
    tree.body.some(
      (/** @type {any} */ node) => node.type === "ImportDeclaration" && /\/language\.js$/.test(node.source.value),
    ) || file.endsWith("core/i18n/language.js");
  const at = (/** @type {any} */ node) => ({ file, line: node.loc.start.line });
  const string = (/** @type {any} */ node, /** @type {any} */ _state, /** @type {any[]} */ ancestors) => {
    if (node.type === "Literal" && typeof node.value !== "string") return;
    const text = wordsOf(node);
    const kind = place([...ancestors].reverse());
    if (kind !== "program" && (kind === "text" ? WORD : PROSE).test(text)) found.bare.push({ ...at(node), text });
  };
  ancestor(/** @type {any} */ (tree), {
    Literal: string,
    TemplateLiteral: string,
    CallExpression(/** @type {any} */ node, /** @type {any} */ _state, /** @type {any[]} */ ancestors) {
      if (!imported || node.callee.name !== "t") return;
      const text = literal(node.arguments[0]);
      if (text === null) found.odd.push({ ...at(node), text: code.slice(node.start, node.end) });
      else
        found.texts.push({
          ...at(node),
          text,
          names: namesOf(node.arguments[1]),
          partly: ancestors.some(
            (each) => each !== node && each.type === "CallExpression" && calleeOf(each) === "filled",
          ),
        });
    },
  });
  return found;
}

/** All of the page's sources. */
export function readSources() {
  const all = paths(SOURCES, ".js").map((path) => textsOf(path, read(path)));
  return {
    texts: all.flatMap(({ texts }) => texts),
    odd: all.flatMap(({ odd }) => odd),
    bare: all.flatMap(({ bare }) => bare),
  };
}

// -- templates

const VOID = new Set(["meta", "link", "input", "br", "img", "path", "rect", "!doctype"]);
const UNREAD = new Set(["style", "script", "title", "noscript", "code"]); // title, noscript: before a language is known
const LANGUAGES = ["简体中文"]; // names of languages, each in itself
const FILLED = /\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}/gs; // by the server, which speaks for itself
const SPOKEN = ["aria-label", "title", "aria-roledescription"];

/**
 * The texts of a template: those marked data-t and those not.
 * @param {string} file
 * @param {string} html
 * @returns {{texts: PageText[], bare: Place[]}}
 */
export function textsOfHtml(file, html) {
  /** @type {{texts: PageText[], bare: Place[]}} */
  const found = { texts: [], bare: [] };
  /** @type {{tag: string, marked: boolean}[]} */
  const open = [];
  for (const { 1: close, 2: tag, 3: attributes, 4: words, index } of html.matchAll(
    /<(\/?)([a-z!][\w-]*)((?:"[^"]*"|[^>"])*)>|([^<]+)/gi,
  )) {
    const line = html.slice(0, index).split("\n").length;
    const put = (/** @type {string} */ text, /** @type {boolean} */ marked) => {
      const own = text.replace(FILLED, "").trim();
      if (!WORD.test(own) || own === "Bubbleline" || LANGUAGES.includes(text)) return;
      if (marked) found.texts.push({ file, line, text, names: [], partly: false });
      else found.bare.push({ file, line, text });
    };
    if (words !== undefined) {
      if (open.length && !open.some((each) => UNREAD.has(each.tag))) put(words.trim(), open[open.length - 1].marked);
    } else if (close) {
      while (open.length && open.pop()?.tag !== tag);
    } else {
      const marked = /\sdata-t(\s|$)/.test(attributes);
      for (const name of SPOKEN) put(new RegExp(`\\s${name}="([^"]*)"`).exec(attributes)?.[1] ?? "", marked);
      if (!VOID.has(tag.toLowerCase()) && !attributes.endsWith("/")) open.push({ tag, marked });
    }
  }
  return found;
}

/** All of the page's templates. */
export function readTemplates() {
  const all = paths(TEMPLATES, ".html").map((path) => textsOfHtml(path, read(path)));
  return { texts: all.flatMap(({ texts }) => texts), bare: all.flatMap(({ bare }) => bare) };
}
