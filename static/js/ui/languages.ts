// The languages there are, and how the page comes to speak one: by its link, else as the browser prefers.
import { language, speak, t } from "../core/i18n/language.ts";
import { pairsOf } from "../core/state/long_link.ts";

type Catalogue = import("../core/i18n/language.ts").Catalogue;
type Texts = { TEXTS: Catalogue; SERVERS: Catalogue };

/** Name in itself; tag for lang="...". */
export const LANGUAGES: {
  code: string;
  name: string;
  tag: string;
  load: () => Promise<Texts>;
}[] = [
  { code: "en", name: "English", tag: "en", load: async () => ({ TEXTS: {}, SERVERS: {} }) },
  { code: "zh", name: "简体中文", tag: "zh-Hans", load: () => import("../core/i18n/zh/zh.ts") },
];

/** The language of the link or the browser. */
export function chosen(wanted: string | null, preferred: readonly string[]) {
  const byName = LANGUAGES.find(({ code }) => code === wanted);
  if (byName) return byName;
  for (const tag of preferred) {
    const found = LANGUAGES.find(({ code }) => tag.toLowerCase().split("-")[0] === code);
    if (found) return found;
  }
  return LANGUAGES[0];
}

/**
 * Switch to the language that a link or the browser requests; call before the page is built. search: the link's query;
 * more: loads what the page says beyond other pages, where that is not English.
 */
export async function loadLanguage(search: string, more?: () => Promise<Texts>) {
  const { plain, packed } = pairsOf(search);
  const wanted = [...plain, ...packed].find(([key]) => key === "lang")?.[1] ?? null;
  const { code, tag, load } = chosen(wanted, navigator.languages);
  if (code === language()) return;
  const [all, own] = await Promise.all([load(), more?.()]);
  speak(code, { ...all.TEXTS, ...own?.TEXTS }, { ...all.SERVERS, ...own?.SERVERS });
  document.documentElement.lang = tag;
  translate(document.body);
}

/** The locale of dates: the browser's if it has the page's language. */
export const locale = () =>
  navigator.languages.find((tag) => tag.toLowerCase().split("-")[0] === language()) ?? language();

/** A text that begins in Chinese. */
const HAN = /^[\u4e00-\u9fff]/;

/** The texts that stand in the page's HTML: elements marked data-t, by their words and their labels. */
function translate(root: Element) {
  for (const node of root.querySelectorAll("[data-t]")) {
    for (const child of node.childNodes) {
      const text = child.nodeType === Node.TEXT_NODE ? child.textContent?.trim() : "";
      if (!text) continue;
      const plain = t(text);
      // Chinese words stand side by side without spaces
      child.textContent = HAN.test(plain) ? plain : (child.textContent ?? "").replace(text, plain);
    }
    for (const name of ["aria-label", "title", "aria-roledescription"]) {
      const text = node.getAttribute(name);
      if (text) node.setAttribute(name, t(text));
    }
  }
}
