// Which of several runs the panel is about.
import { h, replace, show } from "./dom.js";
import { t } from "./pure/lang.js";
import { titleOf } from "./runheads.js";

/** @import {Title} from "./runheads.js" */
/** @import {Watched} from "./watched.js" */

/** @param {(at: number) => void} look */
export function createSwitcher(look) {
  const node = h("div", { class: "which runs", role: "group", "aria-label": t("Which run the panel is about"), hidden: true });
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
      replace(node, ...texts.map((text, at) => h("button", { type: "button", "aria-pressed": String(at === shown), onclick: () => look(at), text })));
    },
  };
}
