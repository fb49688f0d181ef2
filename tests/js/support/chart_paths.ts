// The page's requests for the charts of views, for tests/lessons/test_figures.py: {"defaults": spec, "natural": v by
// family, "figures": [[chart, query], ...]} in, a list of paths out.
import { readFileSync } from "node:fs";
import { parse } from "../../../static/js/core/state/link.ts";
import { kindOf } from "../../../static/js/panels/charts/kinds.ts";

Object.assign(globalThis, { matchMedia: () => ({ matches: false, addEventListener: () => {} }) });
const { chartPath } = await import("../../../static/js/panels/charts/answers.ts");

const { defaults, natural, figures } = JSON.parse(readFileSync(0, "utf8"));
const paths = figures.map(([chart, query]: [string, string]) =>
  chartPath(kindOf(chart), parse(query, defaults, natural).state, defaults),
);
console.log(JSON.stringify(paths));
