// The documentation of <bubble-line>: its language, and the code of the live example as it is now.
import { t } from "../core/i18n/language.ts";
import { byId, setText } from "../ui/dom.ts";
import { loadLanguage } from "../ui/languages.ts";

const REST = 2000; // ms for which "Copied." is shown

async function start() {
  await loadLanguage(location.search);
  const other = byId("other-language") as HTMLAnchorElement;
  if (document.documentElement.lang.startsWith("zh")) {
    other.href = "?lang=en";
    other.hreflang = other.lang = "en";
    setText(other, "English");
  }
  const live = byId("live");
  const snippet = byId("snippet");
  const [script] = (snippet.textContent ?? "").split("\n");
  live.addEventListener("change", () => setText(snippet, `${script}\n${codeOf(live)}`));
  byId("copy").addEventListener("click", () => copy(snippet));
}

/** The element as one writes it. */
function codeOf(element: Element) {
  const attributes = [...element.attributes].filter(({ name }) => name !== "id");
  return `<bubble-line ${attributes.map(({ name, value }) => `${name}="${value}"`).join(" ")}></bubble-line>`;
}

async function copy(node: HTMLElement) {
  const button = byId("copy");
  try {
    await navigator.clipboard.writeText(node.textContent ?? "");
    setText(button, t("Copied."));
    setTimeout(() => setText(button, t("Copy")), REST);
  } catch {
    getSelection()?.selectAllChildren(node); // without permission: the reader presses Ctrl+C
  }
}

start();
