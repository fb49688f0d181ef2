// Under the textbook formula: the bubble that it gives for more micro-batches, as a share of the step and of the work.
import { h, isNew, replace, setText, show } from "../../ui/dom.ts";
import { tableHead } from "../../ui/table.ts";
import { t } from "../../core/i18n/language.ts";
import { formatPercent } from "../../core/i18n/numbers.ts";
import { evaluate, vars } from "../../core/families/formula.ts";
import type { Law, Spec } from "../../core/schedule/types.ts";

/** Stages, and micro-batches per slot. */
type Size = { stages: number; n: number };

const TIMES = [1, 2, 4, 8, 16]; // micro-batches per device
const LESSON = 4; // the number that lectures quote
const FAR = 1e9; // devices that count as many

/** The table is built once, so that it stays open while figures change. */
export function createBubbleTable() {
  const body = h("tbody");
  const limit = h("p.meaning");
  const node = h(
    "details#bubble-table.more-figures.bubble-table",
    { hidden: true },
    h("summary", { text: t("Bubble with more micro-batches") }),
    h("table.fig-table.one", tableHead(t("Micro-batches"), t("of the step"), t("of the work")), body),
    limit,
  );
  return {
    node,
    /** law: the textbook formula. */
    show(law: Law | undefined, spec: Spec, size: Size) {
      const rows = law ? rowsOf(law, spec, size) : [];
      show(node, rows.length > 0);
      if (!law || !isNew(body, [rows, spec.m])) return;
      replace(
        body,
        ...rows.map(({ name, m, share }) =>
          h(
            "tr",
            { "aria-current": m === spec.m ? "true" : null },
            h("th", { scope: "row" }, name, h("small", { text: ` ${m}` })),
            h("td", { text: formatPercent(share) }),
            h("td", { text: formatPercent(share / (1 - share)) }),
          ),
        ),
      );
      const far = shareAt(law, { ...spec, p: FAR, m: LESSON * FAR }, size);
      setText(
        limit,
        t("By this formula. With very many devices m = {times}p gives {step} of the step, {work} of the work.", {
          times: LESSON,
          step: formatPercent(far),
          work: formatPercent(far / (1 - far)),
        }),
      );
    },
  };
}

const rowsOf = (law: Law, spec: Spec, size: Size) =>
  TIMES.map((times) => {
    const m = times * spec.p;
    return { name: times === 1 ? "p" : `${times}p`, m, share: shareAt(law, { ...spec, m }, size) };
  });

const shareAt = (law: Law, spec: Spec, size: Size) =>
  evaluate(law.formula, { ...vars(evened(spec), { ...size, n: spec.m }), p: spec.p, m: spec.m });

/** Lists of costs belong to one number of stages; the formula has no costs. */
const evened = (spec: Spec): Spec => ({
  ...spec,
  p: 1,
  layers: null,
  vocabulary: "plain",
  costs: { ...spec.costs, F: 1, I: 1, W: 1 },
});
