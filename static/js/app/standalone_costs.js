// Sliders for F, I, W and comm over all plans at once: a plan's own cost, or list of costs, grows in the same ratio.
import { h, setText, show } from "../ui/dom.js";
import { t } from "../core/i18n/language.js";
import { shapedByOptions } from "../core/schedule/effective_costs.js";

/** @import {Family, Spec} from "../core/schedule/types.js" */
/** @import {Store} from "../data/store.js" */
/** @typedef {"F" | "I" | "W" | "comm"} Name */
/** @typedef {{name: Name, label: string, input: HTMLInputElement, out: HTMLOutputElement, first: number}} Slider */

const STEPS = 400;
const ROOM = 4; // a slider ends at this many times the largest cost

/**
 * A device's share: of a list, one entry a stage, the sum over the devices.
 * @param {number | number[]} cost
 * @param {number} p
 */
const share = (cost, p) => (Array.isArray(cost) ? cost.reduce((sum, x) => sum + x, 0) / p : cost);

/**
 * A cost when the first plan's goes from one value to another.
 * @param {number | number[]} cost
 * @param {number} from
 * @param {number} to
 */
function moved(cost, from, to) {
  if (from === to) return cost;
  if (from === 0) return to;
  return Array.isArray(cost) ? cost.map((x) => (x * to) / from) : (cost * to) / from;
}

/** @param {Store} store @param {Spec[]} specs of the file @param {Family[]} families
 * @param {(time: number) => string} textOf */
export function createCostSliders(store, specs, families, textOf) {
  const { p, costs } = specs[0];
  const most =
    ROOM * Math.max(.../** @type {const} */ (["F", "I", "W"]).map((name) => share(costs[name], p)), costs.comm) || 1;
  const step = 10 ** Math.floor(Math.log10(most / STEPS));
  const shaped = specs.filter(
    (spec) => shapedByOptions(spec) || families.find((each) => each.name === spec.family)?.shaped_by_costs,
  );
  const titles = [
    ...new Set(shaped.map((spec) => families.find((each) => each.name === spec.family)?.title ?? spec.family)),
  ];
  const note = h("p", {
    class: "embed-note",
    hidden: true,
    role: "status",
    text: t("{title}: the order was made for the costs of this file and stays the same; only its times change.", {
      title: titles.join(t(", ")),
    }),
  });
  const again = h("button", { type: "button", class: "button soft", disabled: true, onclick: reset }, t("Reset"));

  /** @type {Slider[]} */
  const sliders = /** @type {[Name, string][]} */ ([
    ["F", t("forward")],
    ["I", t("input gradient")],
    ["W", t("weight gradient")],
    ["comm", t("latency of a hop")],
  ]).map(([name, label]) => {
    const first = share(costs[name], p);
    const input = h("input", {
      type: "range",
      min: 0,
      max: most,
      step,
      id: `cost-${name}`,
      "aria-label": `${name}: ${label}`,
    });
    input.value = String(first);
    input.addEventListener("input", apply);
    return { name, label, input, out: h("output", { for: `cost-${name}` }), first };
  });

  /** The value of the slider, or of the file where it was not moved: a range input rounds. @param {Slider} slider */
  const valueOf = ({ input, first }) =>
    Math.abs(Number(input.value) - first) < step / 2 ? first : Number(input.value);

  function apply() {
    const [spec, ...others] = specs.map((each) => {
      const now = { ...each.costs };
      for (const slider of sliders)
        Object.assign(now, { [slider.name]: moved(each.costs[slider.name], slider.first, valueOf(slider)) });
      return { ...each, costs: now };
    });
    store.set({ spec, others });
    write();
  }

  function write() {
    for (const slider of sliders) {
      const text = textOf(valueOf(slider));
      setText(slider.out, text);
      slider.input.setAttribute("aria-valuetext", text);
    }
    const changed = sliders.some((slider) => valueOf(slider) !== slider.first);
    again.disabled = !changed;
    show(note, changed && shaped.length > 0);
  }

  function reset() {
    for (const { input, first } of sliders) input.value = String(first);
    apply();
  }

  write();
  const rows = sliders.map(({ name, label, input, out }) =>
    h("label", { class: "embed-cost", title: label }, h("b", { text: name }), input, out),
  );
  return h("div", {}, h("div", { class: "embed-sliders" }, ...rows, again), note);
}
