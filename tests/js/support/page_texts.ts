// Reads the page's texts from its source: arguments of t(...), HTML marked with data-t, and anything that looks like a
// text for readers but is neither.
import { readFileSync, readdirSync } from "node:fs";
import { parser } from "typescript-eslint";

const ROOT = new URL("../../../", import.meta.url);
const SOURCES = "static/js/";
const CATALOGUE = "static/js/core/i18n/zh/";
const TEMPLATES = "templates/";

type PageText = {
  file: string;
  line: number;
  text: string;
  names: string[] | null; // of the values given for its holes, null where they are not spelt out
  partly: boolean; // filled(...) puts elements into the others
};
type Place = { file: string; line: number; text: string };

const paths = (folder: string, ending: string) =>
  readdirSync(new URL(folder, ROOT), { recursive: true })
    .map((name) => folder + String(name))
    .filter((name) => name.endsWith(ending) && !name.startsWith(CATALOGUE))
    .sort();
const read = (path: string) => readFileSync(new URL(path, ROOT), "utf8");

/** The text of a literal, or of literals put together with +; null for anything else. */
function literal(node: any): string | null {
  if (node?.type === "Literal" && typeof node.value === "string") return node.value;
  if (node?.type === "TemplateLiteral" && !node.expressions.length) return node.quasis[0].value.cooked;
  if (node?.type !== "BinaryExpression" || node.operator !== "+") return null;
  const [left, right] = [literal(node.left), literal(node.right)];
  return left === null || right === null ? null : left + right;
}

/** The names of an object literal's properties; null where they are not all spelt out. */
function namesOf(node: any): string[] | null {
  if (!node) return [];
  if (
    node.type !== "ObjectExpression" ||
    node.properties.some((each: any) => each.type !== "Property" || each.computed)
  )
    return null;
  return node.properties.map(({ key }: any) => key.name ?? key.value);
}

/** A node's callee by its name: t of t(...), setText of dom.setText(...). */
const calleeOf = ({ callee }: any) => callee?.name ?? callee?.property?.name ?? "";

/** The holes of a text. */
export const holesOf = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);

// -- strings with letters that are not texts for readers

const wordSet = (list: string) => new Set(list.trim().split(/\s+/));

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
/** Calls that show their arguments, by which of these. */
const TEXT_CALLS: Record<string, (at: number) => boolean> = {
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

/**
 * Classifies a node: "program" for internal values, "text" for texts that are shown, "" where it may be either. up:
 * from the node to the root.
 */
function place(up: any[]) {
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

/** node: a property. */
function ofKey(node: any, child: any) {
  if (node.key === child) return "program";
  const key = node.key.name ?? node.key.value;
  return TEXT_KEYS.has(key) ? "text" : PROGRAM_KEYS.has(key) || String(key).startsWith("data-") ? "program" : "";
}

/** node: a call. */
function ofCall(node: any, child: any) {
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

/** The text of a string or template, with {} in place of its expressions. */
const wordsOf = (node: any) =>
  node.type === "TemplateLiteral" ? node.quasis.map(({ value }: any) => value.cooked).join("{}") : String(node.value);

const TYPED = ["TSAsExpression", "TSNonNullExpression", "TSSatisfiesExpression"]; // expressions with a type

/** Take the types out of a syntax tree. */
function untyped(node: any): any {
  if (Array.isArray(node)) return node.map(untyped).filter((each) => each !== undefined);
  if (typeof node?.type !== "string") return node;
  if (TYPED.includes(node.type)) return untyped(node.expression);
  if (node.type.startsWith("TS")) return undefined;
  for (const [key, value] of Object.entries(node)) node[key] = untyped(value);
  return node;
}

/** Visit every node with its ancestors, from the root to itself. */
function walk(node: any, visit: (node: any, ancestors: any[]) => void, above: any[] = []) {
  if (Array.isArray(node)) for (const each of node) walk(each, visit, above);
  if (typeof node?.type !== "string") return;
  const ancestors = [...above, node];
  visit(node, ancestors);
  for (const child of Object.values(node)) walk(child, visit, ancestors);
}

/** Collects the texts of a source, calls of t without a literal text, and untranslated texts. */
export function textsOf(file: string, code: string): { texts: PageText[]; odd: Place[]; bare: Place[] } {
  const found: { texts: PageText[]; odd: Place[]; bare: Place[] } = { texts: [], odd: [], bare: [] };
  const ast: any = parser.parseForESLint(code).ast;
  const tree = untyped({ ...ast, tokens: [], comments: [] });
  const imported =
    tree.body.some((node: any) => node.type === "ImportDeclaration" && /\/language\.ts$/.test(node.source.value)) ||
    file.endsWith("core/i18n/language.ts");
  const at = (node: any) => ({ file, line: node.loc.start.line });
  const string = (node: any, ancestors: any[]) => {
    if (node.type === "Literal" && typeof node.value !== "string") return;
    const text = wordsOf(node);
    const kind = place([...ancestors].reverse());
    if (kind !== "program" && (kind === "text" ? WORD : PROSE).test(text)) found.bare.push({ ...at(node), text });
  };
  const call = (node: any, ancestors: any[]) => {
    if (!imported || node.callee.name !== "t") return;
    const text = literal(node.arguments[0]);
    if (text === null) found.odd.push({ ...at(node), text: code.slice(...(node.range as [number, number])) });
    else
      found.texts.push({
        ...at(node),
        text,
        names: namesOf(node.arguments[1]),
        partly: ancestors.some(
          (each) => each !== node && each.type === "CallExpression" && calleeOf(each) === "filled",
        ),
      });
  };
  walk(tree, (node, ancestors) => {
    if (node.type === "Literal" || node.type === "TemplateLiteral") string(node, ancestors);
    if (node.type === "CallExpression") call(node, ancestors);
  });
  return found;
}

/** All of the page's sources. */
export function readSources() {
  const all = paths(SOURCES, ".ts").map((path) => textsOf(path, read(path)));
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
const EITHER = /\{% if zh %\}.*?\{% else %\}(.*?)\{% endif %\}/g; // by the server where it knows the language
const SPOKEN = ["aria-label", "title", "aria-roledescription"];

/** The English of what a template says in both languages, with the page's way to write holes. */
const spokenHere = (html: string) =>
  html.replace(EITHER, (_, english: string) => english.replace(/\{\{ (\w+) \}\}/g, "{$1}"));

/** The texts of a template: those marked data-t and those not. */
export function textsOfHtml(file: string, html: string): { texts: PageText[]; bare: Place[] } {
  const found: { texts: PageText[]; bare: Place[] } = { texts: [], bare: [] };
  const open: { tag: string; marked: boolean }[] = [];
  for (const { 1: close, 2: tag, 3: attributes, 4: words, index } of spokenHere(html).matchAll(
    /<(\/?)([a-z!][\w-]*)((?:"[^"]*"|[^>"])*)>|([^<]+)/gi,
  )) {
    const line = html.slice(0, index).split("\n").length;
    const put = (text: string, marked: boolean) => {
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
