// A row of the share dialog: a text to take away, and the button that copies it.
import { h, setText } from "../../ui/dom.js";
import { t } from "../../core/i18n/language.js";

/**
 * @param {string} id
 * @param {string} label
 * @param {HTMLElement} status shows whether it was copied
 * @param {boolean} [tall]
 */
export function linkRow(id, label, status, tall = false) {
  const box = tall
    ? h("textarea", { id, readonly: true, rows: 3, spellcheck: "false" })
    : h("input", { id, type: "text", readonly: true, spellcheck: "false" });
  box.addEventListener("focus", () => box.select());
  const button = h("button", { type: "button", class: "button primary", onclick: () => copy() }, t("Copy"));

  /** @param {string} [words] */
  async function copy(words = t("Copied.")) {
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
    node: h(
      "div",
      { class: "share-row" },
      h("label", { for: id, text: label }),
      h("div", { class: "share-take" }, box, button),
    ),
    /** @param {string} text */
    set: (text) => {
      box.value = text;
    },
    copy,
  };
}
