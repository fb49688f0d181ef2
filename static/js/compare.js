// The compare tab: the schedules on the screen side by side in a table, the better figure marked.
import { h, replace } from "./dom.js";
import { messages } from "./pure/metrics.js";
import { formatNumber, formatPercent } from "./pure/scale.js";

/** @import {Desk} from "./desk.js" */
/** @import {Plan} from "./plans.js" */
/** @typedef {{name: string, of: (plan: Plan) => number, show: (x: number) => string, better: 1 | -1 | 0}} Column */

/** @type {Column[]} */
const COLUMNS = [
  { name: "bubble of total", of: (plan) => plan.figures?.bubble.global.ofTotal ?? NaN, show: formatPercent, better: -1 },
  { name: "of ideal", of: (plan) => plan.figures?.bubble.global.ofIdeal ?? NaN, show: formatPercent, better: -1 },
  { name: "span, of total", of: (plan) => plan.figures?.bubble.span.ofTotal ?? NaN, show: formatPercent, better: -1 },
  { name: "makespan", of: (plan) => plan.figures?.makespan ?? NaN, show: formatNumber, better: -1 },
  { name: "peak memory", of: (plan) => plan.memory, show: formatNumber, better: -1 },
  { name: "messages", of: (plan) => (plan.schedule ? messages(plan.schedule).count : NaN), show: formatNumber, better: -1 },
];

/** @param {Desk} desk @param {() => void} add */
export function createCompare(desk, add) {
  const panel = h("div");
  return {
    panel,
    /** @param {Plan[]} plans */
    show(plans) {
      if (panel.hidden) return;
      const head = h("tr", {}, h("th", { scope: "col", text: "Schedule" }), ...COLUMNS.map((column) => h("th", { scope: "col", text: column.name })),
        h("th", { scope: "col", text: "backward" }), h("th", { scope: "col", class: "text", text: "used by" }));
      const rows = plans.map((plan) => rowOf(plan, plans, desk));
      replace(panel, h("table", { class: "grid-table" }, h("thead", {}, head), h("tbody", {}, ...rows)),
        plans.length > 1 ? h("p", { class: "note", text: difference(plans, desk) }) :
          h("p", { class: "note" }, "One schedule is on the screen. ", h("button", { type: "button", class: "link", onclick: add }, "Put a second one under it"),
            ", on the same time axis."));
    },
  };
}

/** @param {Plan} plan @param {Plan[]} plans @param {Desk} desk */
function rowOf(plan, plans, desk) {
  const spec = plan.shown ?? plan.asked;
  const family = desk.family(spec.family);
  const cells = COLUMNS.map((column) => {
    const mine = column.of(plan);
    const best = plans.length > 1 && plans.every((other) => other === plan || column.of(other) > mine);
    return h("td", { class: best ? "best" : null, text: Number.isNaN(mine) ? "–" : column.show(mine) });
  });
  return h("tr", {}, h("th", { scope: "row", text: `${family?.title ?? spec.family}, p ${spec.p}, m ${spec.m}${family && family.v.max > 1 ? `, v ${spec.v}` : ""}` }),
    ...cells, h("td", { text: { full: "full (B)", split: "split (I, W)", both: "both" }[family?.backward ?? "full"] }), h("td", { class: "text", text: family?.used_by ?? "" }));
}

/** @param {Plan[]} plans @param {Desk} desk */
function difference([a, b], desk) {
  if (!a.figures || !b.figures || !a.shown || !b.shown) return "";
  const names = [a.shown, b.shown].map((spec) => desk.family(spec.family)?.title ?? spec.family);
  const ratio = a.figures.makespan / b.figures.makespan;
  if (a.shown.m !== b.shown.m || a.shown.p !== b.shown.p) return "The two differ in devices or micro-batches, so their times are not of the same work.";
  const same = Math.abs(ratio - 1) < 1e-9;
  const faster = ratio > 1 ? names[1] : names[0];
  const lighter = a.memory < b.memory ? names[0] : names[1];
  const time = same ? `${names[0]} and ${names[1]} take the same time` :
    `${faster} takes ${formatPercent(1 - Math.min(ratio, 1 / ratio))} less time`;
  const memory = Math.abs(a.memory - b.memory) < 1e-9 ? "with the same peak memory" :
    `and ${!same && lighter === faster ? "" : `${lighter} `}holds ${formatNumber(Math.abs(a.memory - b.memory))} micro-batches' activations less at its peak`;
  return `${time}, ${memory}.`;
}
