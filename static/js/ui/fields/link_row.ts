// A text to take away, and the button that copies it.
import { h, setText } from "../dom.ts";
import { t } from "../../core/i18n/language.ts";

/** status: shows whether it was copied. */
export function linkRow(id: string, label: string, status: HTMLElement, tall = false) {
  const box = tall
    ? h("textarea", { id, readonly: true, rows: 3, spellcheck: "false" })
    : h("input", { id, type: "text", readonly: true, spellcheck: "false" });
  box.addEventListener("focus", () => box.select());
  const button = h("button.button.primary", { onclick: () => copy() }, t("Copy"));

  async function copy(words: string = t("Copied.")) {
    try {
      await navigator.clipboard.writeText(box.value);
      setText(status, words);
    } catch {
      box.focus();
      box.select();
      setText(status, t("This browser does not allow copying. The text is selected: press Ctrl+C."));
    }
  }

  return {
    node: h("div.share-row", h("label", { for: id, text: label }), h("div.share-take", box, button)),
    set: (text: string) => {
      box.value = text;
    },
    copy,
  };
}
