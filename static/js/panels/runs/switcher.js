// Which of several runs the panel is about.
import { h, replace, show } from "../../ui/dom.js";
import { t } from "../../core/i18n/language.js";
import { titleOf } from "./headings.js";

/** @import {Title} from "./headings.js" */
/** @import {Watched} from "../../data/runs/watched_run.js" */

/** @param {(at: number) => void} look */
export function createSwitcher(look) {
  const node = h("div", {
    class: "which runs",
    role: "group",
    "aria-label": t("Which run the panel is about"),
    hidden: true,
  });
  let drawn = "";
  return {
    node,
    /** @param {Watched[]} all @param {number} shown @param {Title} title */
    draw(all, shown, title) {
      show(node, all.length > 1);
      const texts = all.map(({ run }, at) => (run ? `${at + 1} · ${titleOf(run, title)}` : String(at + 1)));
      const key = `${shown} ${texts.join()}`;
      if (key === drawn) return; // a button stays under the pointer
      drawn = key;
      replace(
        node,
        ...texts.map((text, at) =>
          h("button", { type: "button", "aria-pressed": String(at === shown), onclick: () => look(at), text }),
        ),
      );
    },
  };
}
