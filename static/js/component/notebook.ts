// The widget of notebooks: <bubble-line> in a cell, its attributes the traits of a model in Python. anywidget calls
// `render` (https://anywidget.dev/en/afm/), in Jupyter, VS Code, Colab and marimo alike.
import { BubbleLine } from "./element.ts";

if (!customElements.get("bubble-line")) customElements.define("bubble-line", BubbleLine);

type Value = string | number | boolean | null | object;
type Model = {
  get: (name: string) => Value;
  set: (name: string, value: Value) => void;
  save_changes: () => void;
  on: (event: string, listener: () => void) => void;
  off: (event: string, listener: () => void) => void;
};

const NUMBERS = ["p", "m", "v", "group", "f", "i", "w", "hop"];
const TRAITS = ["family", ...NUMBERS, "lifo", "controls", "theme"];

/** The attribute of a trait; a widget has another use for `comm`. */
const attributeOf = (trait: string) => (trait === "hop" ? "comm" : trait);

function render({ model, el }: { model: Model; el: HTMLElement }) {
  const line = document.createElement("bubble-line");
  el.dataset.lmSuppressShortcuts = "true"; // keys are the drawing's and the sliders', not the notebook's
  el.addEventListener("keydown", (event) => event.stopPropagation());

  let reading = false;

  const write = () => {
    if (reading) return;
    for (const name of TRAITS) {
      const value = name === "theme" && model.get(name) === "auto" ? hostTheme() : model.get(name);
      if (value === null || value === false) line.removeAttribute(attributeOf(name));
      else line.setAttribute(attributeOf(name), value === true ? "" : String(value));
    }
    line.style.height = `${model.get("height") as number}px`;
  };

  /** Take what a reader has changed. All of it is read first: a model may tell of each trait as soon as it is set. */
  const read = () => {
    const values: [string, Value][] = NUMBERS.map((name) => {
      const text = line.getAttribute(attributeOf(name));
      return [name, text === null ? null : Number(text)];
    });
    values.push(["family", line.getAttribute("family")], ["lifo", line.hasAttribute("lifo")]);
    reading = true;
    for (const [name, value] of values) model.set(name, value);
    reading = false;
    model.save_changes();
  };

  const choose = (event: Event) => {
    model.set("selection", (event as CustomEvent<object>).detail);
    model.save_changes();
  };

  const changes = [...TRAITS, "height"].map((name) => `change:${name}`);
  for (const change of changes) model.on(change, write);
  line.addEventListener("change", read);
  line.addEventListener("choose", choose);
  const theme = new MutationObserver(write);
  for (const node of [document.documentElement, document.body]) theme.observe(node, { attributeFilter: THEMED });
  write();
  el.append(line);
  return () => {
    theme.disconnect();
    for (const change of changes) model.off(change, write);
  };
}

const THEMED = ["class", "theme", "data-jp-theme-light"];

/** The theme of the page around: JupyterLab, Colab, VS Code and marimo each say it in another way. */
function hostTheme() {
  const { classList, dataset } = document.body;
  const lab = dataset.jpThemeLight;
  if (lab !== undefined) return lab === "true" ? "light" : "dark";
  const colab = document.documentElement.getAttribute("theme");
  if (colab === "light" || colab === "dark") return colab;
  if (["vscode-dark", "dark", "dark-theme"].some((name) => classList.contains(name))) return "dark";
  return classList.contains("vscode-light") || classList.contains("light") ? "light" : "auto";
}

export default { render };
