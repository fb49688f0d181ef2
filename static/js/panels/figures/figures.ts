// The right column: the figures of each schedule on the screen, one column per schedule.
import { stepNumber, stepText, unit } from "../../data/costs/time_unit.ts";
import { byId, h, replace, setText, show as reveal } from "../../ui/dom.ts";
import { onStage } from "../../ui/frame_loop.ts";
import { onRest } from "../../ui/rest.ts";
import { isOutOfDate, type Plan } from "../../data/plan.ts";
import { createBoundaries } from "./boundaries.ts";
import { createBubbleTable } from "./bubble_table.ts";
import { showLaws } from "./law.ts";
import { createMemoryLimit } from "./memory_limit.ts";
import { createProof } from "./proof.ts";
import { createFit, deviceMemoryRow, stepRows, windowRow } from "./step_rows.ts";
import { bytesText } from "../../data/costs/quantities.ts";
import { t } from "../../core/i18n/language.ts";
import { messages, type Figures } from "../../core/schedule/metrics.ts";
import { formatBytes, formatNumber, formatPercent } from "../../core/i18n/numbers.ts";
import { letter } from "../../core/state/schedules.ts";
import type { Plans } from "../../data/plans.ts";
import type { StepUnits } from "../../data/costs/step_units.ts";

type Source = {
  figures: Figures;
  plan: Plan;
  held: number | null; // the most bytes of activations on a rank, where a run of it is there
  units: StepUnits | null; // with a model and a machine
};
export type Row = {
  name: string;
  hint?: string;
  lead?: boolean;
  of: (source: Source) => string;
  time?: (figures: Figures) => number; // a row of times, written without their unit where columns are narrow
  sign?: () => string; // follows each figure, or the row's name where there are many columns
  short?: (source: Source) => string; // with fewer digits, for many columns
};

const percent = () => " %";
const perSecond = () => (unit() ? " / s" : "");
const MANY = 3; // columns that leave no room for signs after figures

/** Returns limit: the memory of a device, null without a model and a machine. */
const headlineRows = (limit: string | null): Row[] => [
  {
    name: t("Bubble"),
    hint: t("idle ÷ all time"),
    lead: true,
    sign: percent,
    of: ({ figures }) => formatPercent(figures.bubble.global.ofTotal),
  },
  {
    name: t("Step time"),
    lead: true,
    of: ({ figures }) => stepText(figures.makespan),
    time: (figures) => figures.makespan,
  },
  ...(limit === null ? [heldRow(true)] : [deviceMemoryRow(limit), ...stepRows()]),
];
const heldRow = (lead: boolean): Row => ({
  name: lead ? t("Peak memory") : t("Peak activations"),
  hint: t("micro-batches"),
  lead,
  of: ({ plan }) => formatNumber(plan.memory),
});
const otherBubbleRows = (): Row[] => [
  {
    name: t("Against work"),
    hint: t("Idle time over work, from the first start to the last end."),
    sign: percent,
    of: ({ figures }) => formatPercent(figures.bubble.global.ofIdeal),
  },
  {
    name: t("Busiest device"),
    hint: t("Idle share of its own window, first start to last end, as the zero-bubble papers count."),
    sign: percent,
    of: ({ figures }) => formatPercent(figures.bubble.span.ofTotal),
  },
  {
    name: t("Busiest device, against work"),
    hint: t("Idle time over work in that window."),
    sign: percent,
    of: ({ figures }) => formatPercent(figures.bubble.span.ofIdeal),
  },
];
/** measured: there is a run of one of them. */
const restRows = (measured: boolean, priced: boolean): Row[] => [
  ...(priced ? [heldRow(false)] : []),
  {
    name: t("Busiest device's window"),
    of: ({ figures }) => stepText(figures.longestStage),
    time: (figures) => figures.longestStage,
  },
  ...(priced ? [windowRow()] : []),
  {
    name: t("Throughput"),
    hint: unit() ? t("micro-batches per second") : t("per unit of time"),
    sign: perSecond,
    of: ({ figures, plan }) => throughput(plan.shown?.m ?? 0, figures.makespan),
    short: ({ figures, plan }) => throughput(plan.shown?.m ?? 0, figures.makespan, 3),
  },
  {
    name: t("Efficiency"),
    hint: t("of ideal throughput"),
    sign: percent,
    of: ({ figures }) => formatPercent(1 - figures.bubble.global.ofTotal),
  },
  ...(measured
    ? [
        {
          name: t("Measured peak"),
          hint: t("in the run"),
          of: ({ held }: Source) => (held === null ? "–" : formatBytes(held)),
        },
      ]
    : []),
  { name: t("Peak in flight"), hint: t("chunks"), of: ({ plan }) => formatNumber(plan.peak) },
  {
    name: t("Messages"),
    hint: t("per step"),
    of: ({ plan }) => (plan.schedule ? formatNumber(messages(plan.schedule).count) : "–"),
  },
];

/** Micro-batches in a second where times are milliseconds. */
const throughput = (m: number, makespan: number, digits?: number) =>
  unit()
    ? `${((1000 * m) / makespan).toPrecision(digits ?? 4)} / s`
    : formatNumber(digits ? Number((m / makespan).toPrecision(digits)) : m / makespan);

function written(row: Row, source: Source, columns: number) {
  const many = columns >= MANY;
  if (columns > 1 && row.time) return stepNumber(row.time(source.figures), many);
  const [text, sign] = [many && row.short ? row.short(source) : row.of(source), row.sign?.() ?? ""];
  return many && sign && text.endsWith(sign) ? text.slice(0, -sign.length) : text;
}

/** cells: one a schedule. */
const rowNode = ({ name, hint, lead, sign }: Row, cells: HTMLElement[]) =>
  h(
    "tr",
    { class: lead ? "lead" : null },
    h(
      "th",
      { scope: "row", title: hint },
      name,
      cells.length >= MANY && sign ? sign() : "",
      hint && cells.length === 1 ? h("small", { text: ` ${hint}` }) : "",
    ),
    ...cells,
  );

const isThere = (x: number | null) => x !== null;

/**
 * search: shows how good a searched order is; measuredPeak: the most bytes that a run of a plan held, null without one;
 * unitsOf: with a model and a machine.
 */
export function createFigures({
  plans,
  search,
  measuredPeak,
  unitsOf,
}: {
  plans: Plans;
  search: HTMLElement;
  measuredPeak: (id: string) => number | null;
  unitsOf: (plan: Plan) => StepUnits | null;
}) {
  const home = byId("figures");
  const holder = h("div");
  const meaning = h("p#meaning.meaning");
  const law = h("div#law");
  const memoryLimit = createMemoryLimit(plans);
  const [boundaries, bubbleTable, proof] = [createBoundaries(plans), createBubbleTable(), createProof(plans)];
  const fit = createFit();
  const outOfDate = h("p.footnote.out-of-date", {
    hidden: true,
    text: t("Of the last valid schedule, not of what is asked for."),
  });
  home.append(
    outOfDate,
    holder,
    memoryLimit.node,
    search,
    proof.node,
    h("h2", { text: t("Formula") }),
    law,
    boundaries.node,
    h("h2", { text: t("What B means here") }),
    meaning,
  );
  // what the tables are made for: how many schedules, which unit of time, whether one of them was run
  let [columns, counted, measured] = [0, "", false];
  /** The memory of a device. */
  let limit: string | null = null;
  const whole = h("h2");
  let others = h("details");
  let rows: { cells: HTMLElement[]; row: Row }[] = [];
  /** By table. */
  let heads: HTMLElement[][] = [];

  /** A table of figures, a column a schedule. kind: a class. */
  function table(list: Row[], kind = "") {
    const body = h("tbody");
    for (const row of list) {
      const cells = Array.from({ length: columns }, () => h("td", { text: "–" }));
      rows.push({ cells, row });
      body.append(rowNode(row, cells));
    }
    const tops = Array.from({ length: columns }, () => h("th", { scope: "col" }));
    heads.push(tops);
    // names are shown once, over the first table; screen readers have them over each
    const unseen = heads.length > 1 ? "visually-hidden" : null;
    const head =
      columns > 1
        ? h(
            "thead",
            { class: unseen },
            h("tr", h("th", { scope: "col" }, h("span.visually-hidden", { text: t("Figure") })), ...tops),
          )
        : null;
    return h(
      "table",
      { class: ["fig-table one", "fig-table two", "fig-table two many"][Math.min(2, columns - 1)] + kind },
      h("colgroup", h("col")),
      head,
      body,
    );
  }

  /** count: of schedules; withRun: one of them was run. */
  function build(count: number, withRun: boolean, memory: string | null) {
    const open = others.open;
    [columns, counted, measured, limit] = [count, unit(), withRun, memory];
    rows = [];
    heads = [];
    replace(holder, whole, table(headlineRows(limit), " headline"), fit.node);
    others = h(
      "details.more-figures",
      { open },
      h("summary", { text: t("More figures") }),
      table(restRows(withRun, limit !== null)),
      h("h3", { text: t("Other definitions of the bubble") }),
      table(otherBubbleRows()),
    );
    holder.append(others);
  }
  build(1, false, null);

  function show() {
    const shown = plans.onScreen();
    const peaks = shown.map(({ id }) => measuredPeak(id));
    const units = shown.map(unitsOf);
    const memory = units.find((each) => each !== null)?.memory.limit ?? null;
    const now = memory === null ? null : bytesText(memory);
    if (shown.length !== columns || counted !== unit() || measured !== peaks.some(isThere) || limit !== now)
      build(shown.length, peaks.some(isThere), now);
    const old = shown.some(isOutOfDate);
    home.classList.toggle("is-stale", old);
    reveal(outOfDate, old);
    const titles = plans.titles();
    shown.forEach((plan, at) => {
      const { figures } = plan;
      for (const { cells, row } of rows)
        setText(cells[at], figures ? written(row, { figures, plan, held: peaks[at], units: units[at] }, columns) : "–");
      for (const tops of heads) nameHead(tops[at], titles[at], columns > 2 ? letter(at) : null);
    });
    setText(whole, columns > 1 && unit() ? t("Whole step, {unit}", { unit: unit() }) : t("Whole step"));
    memoryLimit.show();
    fit.show(shown.map((plan, at) => ({ plan, units: units[at], title: titles[at] })));
    setText(
      meaning,
      shown
        .map((plan) => meaningOf(plans, plan, shown.length > 1))
        .filter((x, k, all) => all.indexOf(x) === k)
        .join(t(" ")),
    );
  }
  onStage("figures", show);
  onRest(() => {
    showLaws(law, plans, bubbleTable);
    boundaries.show();
    proof.show();
  });
}

/** Names do not fit over many columns; the headings of the lanes have name and letter. */
function nameHead(head: HTMLElement, title: string, short: string | null) {
  setText(head, short ?? title);
  if (head.title !== title) head.title = title;
}

const staleness = () =>
  t(
    "Every backward updates the weights at once: nothing is drained between steps, where 1F1B flushes and pays its " +
      "bubble once a step. The price: stage s keeps p − s weight versions, and its gradients are up to p − 1 − s " +
      "updates late, so the training is no longer plain SGD.",
  );

function meaningOf(plans: Plans, plan: Plan, named: boolean) {
  const family = plans.family((plan.shown ?? plan.asked).family);
  if (!family) return "";
  const alone = (plan.shown ?? plan.asked).forward_only;
  const whose = (text: string) => (named ? t("{family}: {text}", { family: family.title, text }) : text);
  if (alone) return whose(t("There is no B: the schedule has forwards only, as in inference."));
  if (family.backward === "full") {
    const full = whose(t("B is the full backward pass, input and weight gradient in one op: b = i + w."));
    return family.asynchronous ? full + t(" ") + staleness() : full;
  }
  if (family.backward === "split") {
    return named
      ? whose(
          t(
            "the backward pass is split into I (input gradient) and W (weight gradient). The zero-bubble papers " +
              "write B for this I; here B would mean both, b = i + w.",
          ),
        )
      : t(
          "The backward pass is split into I (input gradient) and W (weight gradient). The zero-bubble papers " +
            "write B for this I; here B would mean both, b = i + w.",
        );
  }
  return whose(
    t(
      "B is the full backward pass as in DeepSeek's papers, b = i + w; where it is split, I is the input " +
        "gradient and W the weight gradient.",
    ),
  );
}
