// Training plans as a table, the schedule on the screen first for comparison; a click puts a plan on the screen.
import { gigabytesText, rateText } from "../../../data/costs/quantities.js";
import { modesName } from "../../../data/option_names.js";
import { h } from "../../../ui/dom.js";
import { t } from "../../../core/i18n/language.js";
import { formatNumber, formatPercent } from "../../../core/i18n/numbers.js";
import { longer, signedPercent } from "../../../core/drawing/training_plans.js";

/** @import {Spec} from "../../../core/schedule/types.js" */
/** @import {TrainingPlan} from "../../../core/drawing/training_plans.js" */
/** @typedef {{seconds: number, tokens_per_second: number, mfu: number, memory: number}} Figures s, 1/s, 1, bytes */
/**
 * @typedef {object} Shown
 * @property {TrainingPlan[]} plans
 * @property {{spec: Spec, figures: Figures} | null} now  the schedule on the screen
 * @property {number} place    its position among the plans, -1 for none
 * @property {number} limit    of a device, in bytes
 * @property {(spec: Spec) => string} titleOf
 */
/** @typedef {{put: (at: number, under: boolean) => void, point: (at: number | null) => void}} Acts */

const TEXTS = new Set([3, 4, 10]); // columns of words

/** @returns {[string, string][]} name and meaning */
const columns = () => [
  [t("schedule"), t("name of the family")],
  [t("chunks"), t("model chunks on a device, v")],
  [t("limit"), t("memory limit of a searched order, in one micro-batch's activations")],
  [t("recompute"), t("what is run again before the backward, of all chunks or chunk by chunk")],
  [t("offload"), t("what goes to host memory, of all chunks or chunk by chunk")],
  [t("step s"), t("first start to last end")],
  [t("against now"), t("time of the step, against the schedule on the screen")],
  [t("tokens / s"), t("tokens of all replicas in a second")],
  [t("MFU"), t("model FLOP utilisation: the model's FLOP over what the devices could compute, without recomputation")],
  [t("memory"), t("weights, gradients, optimizer and activations on the device with the most")],
  [t("fits"), t("whether every device has enough memory")],
];

/** @param {Shown} shown @param {Acts} acts */
export function planTable(shown, acts) {
  const { plans, now } = shown;
  const head = columns().map(([text, title], k) =>
    h("th", { scope: "col", title, text, class: TEXTS.has(k) ? "text" : null }),
  );
  return h(
    "table",
    { class: "comparison-table plan-table" },
    h("caption", { class: "visually-hidden", text: t("Plans that fit from the fastest, then the others") }),
    h("thead", {}, h("tr", {}, ...head)),
    h("tbody", {}, now ? nowRow(now, shown) : null, ...plans.map((_, at) => planRow(at, shown, acts))),
  );
}

/** @param {{spec: Spec, figures: Figures}} now @param {Shown} shown */
const nowRow = ({ spec, figures }, shown) =>
  h(
    "tr",
    { class: "is-shown plan-now" },
    h("th", { scope: "row", title: t("on the screen") }, shown.titleOf(spec), mark()),
    ...cells(spec, figures, figures, shown),
  );

const mark = () => h("span", { class: "plan-mark", text: "A" });

/** @param {number} at @param {Shown} shown @param {Acts} acts */
function planRow(at, shown, acts) {
  const { spec, units, frontier } = shown.plans[at];
  const here = at === shown.place;
  const put = h(
    "button",
    {
      type: "button",
      class: "put",
      id: `plan-put-${at}`,
      "aria-pressed": String(here),
      title: t("Put it on the screen; with Shift, below what is there"),
      onfocus: () => acts.point(at),
      onblur: () => acts.point(null),
    },
    shown.titleOf(spec),
  );
  const figures = { ...units, memory: units.memory.most };
  return h(
    "tr",
    {
      "data-at": at,
      class: [here && "is-shown", frontier && "is-frontier"].filter(Boolean).join(" ") || null,
      onclick: (/** @type {MouseEvent} */ event) => acts.put(at, event.shiftKey),
      onmouseenter: () => acts.point(at),
      onmouseleave: () => acts.point(null),
    },
    h("th", { scope: "row" }, put, here ? mark() : null),
    ...cells(spec, figures, shown.now?.figures ?? null, shown),
  );
}

/**
 * @param {Spec} spec
 * @param {Figures} figures
 * @param {Figures | null} now  what they are compared with
 * @param {Shown} shown
 */
function cells(spec, { seconds, tokens_per_second, mfu, memory }, now, { limit }) {
  const gain = now && now.seconds !== seconds ? longer(seconds, now.seconds) : null;
  const fits = memory <= limit;
  const texts = [
    String(spec.v),
    spec.memory === null ? "–" : formatNumber(spec.memory),
    modesName(spec.recompute),
    modesName(spec.offload),
    seconds.toPrecision(4),
    gain === null ? "–" : signedPercent(gain),
    rateText(tokens_per_second),
    formatPercent(mfu),
    gigabytesText(memory),
    fits ? t("yes") : t("no"),
  ];
  return texts.map((text, k) => {
    const kinds = [
      TEXTS.has(k + 1) && "text",
      k === 5 && gain !== null && gain < 0 && "is-gain",
      k >= 8 && !fits && "over",
    ].filter(Boolean);
    return h("td", { class: kinds.join(" ") || null, text });
  });
}
