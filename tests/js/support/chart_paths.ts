// The page's requests for the charts of views, for tests/lessons/test_figures.py: {"defaults": spec, "natural": v by
// family, "figures": [[chart, query], ...]} a line in, a list of paths out.
import { answerLines } from "./helpers.ts";
import { parse } from "../../../static/js/core/state/link.ts";
import { kindOf } from "../../../static/js/panels/charts/kinds.ts";

Object.assign(globalThis, { matchMedia: () => ({ matches: false, addEventListener: () => {} }) });
const { chartPath } = await import("../../../static/js/panels/charts/answers.ts");

await answerLines(({ defaults, natural, figures }) =>
  figures.map(([chart, query]: [string, string]) =>
    chartPath(kindOf(chart), parse(query, defaults, natural).state, defaults),
  ),
);
