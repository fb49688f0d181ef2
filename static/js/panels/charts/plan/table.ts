// Training plans as a table, the schedule on the screen first for comparison; a click puts a plan on the screen.
import { gigabytesText, rateText } from "../../../data/costs/quantities.ts";
import { modesName } from "../../../data/option_names.ts";
import { h } from "../../../ui/dom.ts";
import { hiddenCaption, tableHead } from "../../../ui/table.ts";
import { t } from "../../../core/i18n/language.ts";
import { formatNumber, formatPercent } from "../../../core/i18n/numbers.ts";
import {
  areLaidOut,
  layoutText,
  longer,
  signedPercent,
  stepSeconds,
  type Sizes,
  type TrainingPlan,
} from "../../../core/drawing/training_plans.ts";
import type { Spec } from "../../../core/schedule/types.ts";

/** s, 1/s, 1, bytes. */
export type Figures = {
  seconds: number;
  tokens_per_second: number;
  span: { tokens_per_second: number }; // over the busiest device's window
  mfu: number;
  memory: number;
};
type Shown = {
  plans: TrainingPlan[];
  now: { spec: Spec; figures: Figures; sizes: Sizes | null } | null; // the schedule on the screen
  place: number; // its position among the plans, -1 for none
  limit: number; // of a device, in bytes
  titleOf: (spec: Spec) => string;
};
type Acts = { put: (at: number, under: boolean) => void; point: (at: number | null) => void };

const TEXTS = new Set([3, 4, 8, 12]); // columns of words

/** Returns name and meaning. */
const columns = (laidOut: boolean): [string, string][] => [
  [t("schedule"), t("place and name of the family; = shares its place: within 1 %, estimates are no more exact")],
  laidOut
    ? [t("layout"), t("pipeline, chunks, tensor, context, expert and data parallel; sequences of a micro-batch; m")]
    : [t("chunks"), t("model chunks on a device, v")],
  [t("limit"), t("memory limit of a searched order, in one micro-batch's activations")],
  [t("recompute"), t("what is run again before the backward, of all chunks or chunk by chunk")],
  [t("offload"), t("what goes to host memory, of all chunks or chunk by chunk")],
  [t("step s"), t("with the optimizer and the exchange of the replicas")],
  [t("against now"), t("time of the step, against the schedule on the screen")],
  [t("memory"), t("weights, gradients, optimizer and activations on the device with the most")],
  [t("fits"), t("whether every device has enough memory")],
  [t("tokens / s"), t("tokens of all replicas in a second")],
  [t("MFU"), t("model FLOP utilisation: the model's FLOP over what the devices could compute, without recomputation")],
  [
    t("tokens / s, busiest device"),
    t("tokens of all replicas in a second of the busiest device's window, outside of which steps may overlap"),
  ],
  [t("runs on"), t("frameworks that run it; the tab Export has the configuration of each")],
];

export function planTable(shown: Shown, acts: Acts) {
  const { plans, now } = shown;
  const head = columns(areLaidOut(plans)).map(([text, title], k) =>
    h("th", { scope: "col", title, text, class: TEXTS.has(k) ? "text" : null }),
  );
  return h(
    "table.comparison-table.plan-table",
    hiddenCaption(t("Plans that fit from the fastest, then the others")),
    tableHead(...head),
    h("tbody", now ? nowRow(now, shown) : null, ...plans.map((_, at) => planRow(at, shown, acts))),
  );
}

const nowRow = ({ spec, figures, sizes }: NonNullable<Shown["now"]>, shown: Shown) =>
  h(
    "tr.is-shown.plan-now",
    h("th", { scope: "row", title: t("on the screen") }, shown.titleOf(spec), mark()),
    ...cells(spec, figures, sizes, figures, shown.plans[shown.place]?.frameworks ?? [], shown),
  );

const mark = () => h("span.plan-mark", { text: "A" });

function planRow(at: number, shown: Shown, acts: Acts) {
  const { spec, units, sizes, frontier, place, tied, frameworks } = shown.plans[at];
  const here = at === shown.place;
  const put = h(
    "button.put",
    {
      id: `plan-put-${at}`,
      "aria-pressed": String(here),
      title: t("Put it on the screen; with Shift, below what is there"),
      onfocus: () => acts.point(at),
      onblur: () => acts.point(null),
    },
    shown.titleOf(spec),
  );
  const figures = { ...units, seconds: stepSeconds(units), memory: units.memory.most };
  return h(
    "tr",
    {
      "data-at": at,
      class: [here && "is-shown", frontier && "is-frontier"].filter(Boolean).join(" ") || null,
      onclick: (event: MouseEvent) => acts.put(at, event.shiftKey),
      onmouseenter: () => acts.point(at),
      onmouseleave: () => acts.point(null),
    },
    h(
      "th",
      { scope: "row" },
      place === null ? null : h("span.plan-place", { text: `${place}${tied ? "=" : ""}` }),
      put,
      here ? mark() : null,
    ),
    ...cells(spec, figures, sizes, shown.now?.figures ?? null, frameworks, shown),
  );
}

function cells(
  spec: Spec,
  { seconds, tokens_per_second, span, mfu, memory }: Figures,
  sizes: Sizes | null,
  now: Figures | null, // what they are compared with
  frameworks: string[],
  { limit, plans }: Shown,
) {
  const gain = now && now.seconds !== seconds ? longer(seconds, now.seconds) : null;
  const fits = memory <= limit;
  const texts = [
    areLaidOut(plans) && sizes ? layoutText(sizes) : String(spec.v),
    spec.memory === null ? "–" : formatNumber(spec.memory),
    modesName(spec.recompute),
    modesName(spec.offload),
    seconds.toPrecision(4),
    gain === null ? "–" : signedPercent(gain),
    gigabytesText(memory),
    fits ? t("yes") : t("no"),
    rateText(tokens_per_second),
    formatPercent(mfu),
    rateText(span.tokens_per_second),
    frameworks.join(", ") || "–",
  ];
  return texts.map((text, k) => {
    const kinds = [
      TEXTS.has(k + 1) && "text",
      k === 5 && gain !== null && gain < 0 && "is-gain",
      (k === 6 || k === 7) && !fits && "over",
    ].filter(Boolean);
    return h("td", { class: kinds.join(" ") || null, text });
  });
}
