// A heading over each lane group: what it is and the two figures that matter most.
import { stepText } from "../../data/costs/time_unit.js";
import { h, replace, setText, show } from "../../ui/dom.js";
import { modesName, vocabularyName } from "../../data/option_names.js";
import { t } from "../../core/i18n/language.js";
import { formatPercent } from "../../core/i18n/numbers.js";

/** @import {Layout} from "../../core/timeline/layout.js" */
/** @import {Plans} from "../../data/plans.js" */
/** @import {Plan} from "../../data/plan.js" */
/**
 * @typedef {{node: HTMLElement, badge: HTMLElement, title: HTMLElement, sizes: HTMLElement, bubble: HTMLElement, span:
 *   HTMLElement, close: HTMLElement}} Head
 */

/** @param {HTMLElement} plot @param {(id: string) => void} drop takes a plan off the screen */
export function createHeads(plot, drop) {
  /** @type {Map<string, Head>} */
  const headings = new Map();

  /** @param {string} id */
  function head(id) {
    let found = headings.get(id);
    if (!found) {
      const badge = h("span", { class: "badge", hidden: true });
      const title = h("strong");
      const sizes = h("span", { class: "optional" });
      const bubble = h("span", { class: "num" });
      const span = h("span", { class: "num optional" });
      const node = h(
        "div",
        { class: "lane-head", "data-lane": id },
        title,
        sizes,
        badge,
        h("span", { class: "push" }, `${t("bubble")} `, bubble),
        h("span", { class: "optional" }, `${t("step time")} `, span),
      );
      const close = h("button", { type: "button", class: "lane-close", hidden: true, onclick: () => drop(id) }, "×");
      node.append(close);
      plot.append(node);
      found = { node, badge, title, sizes, bubble, span, close };
      headings.set(id, found);
    }
    return found;
  }

  return {
    /** @param {Layout} layout */
    place(layout) {
      for (const [id, each] of headings) {
        const group = layout.groups.find((g) => g.id === id);
        show(each.node, group !== undefined && group.titleY > -8);
        if (group) each.node.style.transform = `translateY(${group.titleY + 2}px)`;
      }
    },
    /**
     * @param {string} id
     * @param {{title: string, sizes: string, bubble: number, makespan: number, badge: string, tone: string, many?:
     *   boolean}} text
     */
    write(id, { title, sizes, bubble, makespan, badge, tone, many = false }) {
      const each = head(id);
      setText(each.title, title);
      setText(each.sizes, sizes);
      setText(each.bubble, Number.isNaN(bubble) ? "–" : formatPercent(bubble));
      setText(each.span, Number.isNaN(makespan) ? "–" : stepText(makespan));
      show(each.close, many);
      const off = t("Take {title} off the screen", { title });
      if (many && each.close.title !== off) {
        each.close.title = off;
        each.close.setAttribute("aria-label", off);
      }
      show(each.badge, badge !== "");
      if (each.badge.textContent !== badge) replace(each.badge, badge);
      each.badge.className = `badge ${tone}`;
    },
  };
}

/** What is not plain about a schedule, in a word each. @param {import("../../core/schedule/types.js").Spec} spec */
function optionsOf(spec) {
  const words = [];
  if (spec.vocabulary !== "plain") words.push(vocabularyName(spec.vocabulary));
  if (spec.offload !== "none") words.push(t("offload {how}", { how: modesName(spec.offload) }));
  if (spec.recompute !== "none") words.push(t("recompute {what}", { what: modesName(spec.recompute) }));
  if (spec.layers !== null) words.push(t("layers"));
  if (spec.memory !== null) words.push(t("limit {limit}", { limit: spec.memory }));
  return words;
}

/** @param {Plan} plan @param {Plans} plans @param {boolean} two */
export function headText(plan, plans, two) {
  const spec = plan.shown ?? plan.asked;
  const family = plans.family(spec.family);
  const sizes = [`p ${spec.p}`, `m ${spec.m}`];
  if (family && family.v.max > 1) sizes.push(`v ${spec.v}`);
  sizes.push(...optionsOf(spec));
  const stale = plan.shown !== plan.asked;
  let badge = "";
  if (stale && plan.offline) badge = t("Server unreachable: showing the last schedule");
  else if (stale && plan.error) badge = t("Showing the last valid schedule");
  return {
    title: `${two ? `${plan.id.toUpperCase()} · ` : ""}${family?.title ?? spec.family}`,
    sizes: sizes.join(" · "),
    bubble: plan.figures?.bubble.global.ofTotal ?? NaN,
    makespan: plan.figures?.makespan ?? NaN,
    badge,
    tone: "warn",
    many: two,
  };
}
