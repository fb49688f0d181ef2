// What is proved of a searched order, and how that differs from the integer program of the paper it comes from.
import { h, show } from "../../ui/dom.ts";
import { t } from "../../core/i18n/language.ts";
import { paperLink } from "../../ui/paper_link.ts";
import type { Plans } from "../../data/plans.ts";

export function createProof(plans: Plans) {
  const node = h(
    "details#proof.more-figures",
    { hidden: true },
    h("summary", { text: t("What is proved, and how") }),
    h("p.meaning", {
      text: t(
        "The certificate is a lower bound: at these costs and within this memory, no order of the same stages has a " +
          "shorter window of its busiest device. If the order reaches the bound, it is proved optimal; if not, the " +
          "gap is the most that any order could still gain.",
      ),
    }),
    h(
      "p.meaning",
      t(
        "The paper states the problem as an integer linear program (ILP). A solver proves its orders optimal, but " +
          "only for few devices and micro-batches. Bubbleline builds orders, improves them by simulated annealing, " +
          "and compares them with bounds that hold at any size (docs/search.md).",
      ),
      h("span.cite", " ", paperLink("zero")),
    ),
  );
  return {
    node,
    show() {
      show(
        node,
        plans.onScreen().some(({ asked }) => plans.family(asked.family)?.searched),
      );
    },
  };
}
