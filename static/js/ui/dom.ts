// Small helpers for the DOM: make, find, and write only what changed.
import { language, t } from "../core/i18n/language.ts";

type Child = string | number | Node | null | undefined | false;

type Tag = keyof HTMLElementTagNameMap;
type Selector = Tag | `${Tag}#${string}` | `${Tag}.${string}`;
type TagOf<S extends string> = S extends `${infer Head}#${string}` | `${infer Head}.${string}` ? TagOf<Head> : S;
type Made<S extends string> = TagOf<S> extends Tag ? HTMLElementTagNameMap[TagOf<S>] : never;
type Props = Record<string, any>;

/**
 * Make an element. selector: as "button#run.button.primary", its tag with its id and classes. Of the properties, which
 * may be left out, keys that start with "on" are listeners, "text" is its text, and the rest are attributes. A button
 * submits only where its type says so.
 */
export function h<S extends Selector>(selector: S, props: Props, ...children: Child[]): Made<S>;
export function h<S extends Selector>(selector: S, ...children: Child[]): Made<S>;
export function h(selector: string, first?: Props | Child, ...others: Child[]): HTMLElement {
  const [head, ...classes] = selector.split(".");
  const [tag, id] = head.split("#");
  const node = document.createElement(tag);
  if (id) node.id = id;
  if (classes.length) node.className = classes.join(" ");
  if (tag === "button") node.setAttribute("type", "button");
  const isProps = typeof first === "object" && first !== null && !(first instanceof Node);
  for (const [key, value] of Object.entries(isProps ? first : {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key === "text") node.textContent = String(value);
    else node.setAttribute(key, value === true ? "" : String(value));
  }
  append(node, isProps ? others : [first as Child, ...others]);
  return node;
}

function append(node: Element, children: Child[]) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : String(child));
  }
}

export function replace(node: Element, ...children: Child[]) {
  node.replaceChildren();
  append(node, children);
}

/**
 * Change what is inside a node, and focus the element with the same id again if the focused one was replaced or moved;
 * where there is none any more, what is around it.
 */
export function keepFocus(node: HTMLElement, change: () => void) {
  const focused = document.activeElement;
  const within = focused !== null && node.contains(focused);
  change();
  if (!within || document.activeElement !== document.body) return;
  const next = (focused.id && document.getElementById(focused.id)) || node.closest<HTMLElement>("[tabindex]");
  next?.focus({ preventScroll: true });
}

export function byId(id: string): HTMLElement {
  const node = document.getElementById(id);
  if (!node) throw new Error(`the page has no #${id}`);
  return node;
}

/**
 * A text with elements in its holes: what t("Layers {before} become {after}") is made of. parts: by the names of the
 * holes.
 */
export const filled = (text: string, parts: Record<string, Child>): Child[] =>
  text.split(/\{(\w+)\}/).map((piece, at) => (at % 2 ? parts[piece] : piece));

/** Write text only when it differs, so that an unchanged figure costs no layout. */
export function setText(node: Node, text: string) {
  if (node.textContent !== text) node.textContent = text;
}

const written = new WeakMap<Element, string>();

/** Whether a node is to show something else than at the last call; what it shows is compared as JSON. */
export function isNew(node: Element, shown: unknown) {
  const now = JSON.stringify(shown);
  if (written.get(node) === now) return false;
  written.set(node, now);
  return true;
}

export function show(node: HTMLElement, shown: boolean) {
  if (node.hidden === shown) node.hidden = !shown;
}

/** A 2d context that is known to exist. */
export function context(canvas: HTMLCanvasElement, options?: CanvasRenderingContext2DSettings) {
  const ctx = canvas.getContext("2d", options);
  if (!ctx) throw new Error("this browser gives no 2d canvas");
  return ctx;
}

/** An svg icon of one path on a 16 x 16 grid. */
export function icon(path: string) {
  const ns = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(ns, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  const shape = document.createElementNS(ns, "path");
  shape.setAttribute("d", path);
  svg.append(shape);
  return svg;
}

/** A button of an icon alone. */
export const iconButton = (path: string, name: string, onclick: () => void, title: string = name) =>
  h("button", { type: "button", class: "button icon", "aria-label": name, title, onclick }, icon(path));

/** A message as a sentence: capital, unless it begins with a field's symbol such as m, and full stop. */
export const sentence = (text: string) =>
  text
    ? (/^\w\b/.test(text) || language() !== "en" ? text : text[0].toUpperCase() + text.slice(1)) +
      (/[.?!。？！]$/.test(text) ? "" : t("."))
    : "";

/** Where another page is: of the site without a server its file, which the page names, for lessons by language. */
export function pageAddress(name: "build" | "learn") {
  const { dataset } = document.documentElement;
  return (language() === "zh" && dataset[`${name}Zh`]) || (dataset[name] ?? `/${name}`);
}

/** Whether there is one: a page of the site without a server has its answers in it (data/api.ts). */
export const hasServer = !("keptAnswers" in globalThis);
