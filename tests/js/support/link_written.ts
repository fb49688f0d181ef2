// Reads links as the page does and writes them again, for tests/cli/test_api_links.py: one line {"query", "natural"}
// in, one line {"spec", "problems", "written"} out, in order.
import { format, parse } from "../../../static/js/core/state/link.ts";
import { DEFAULTS, answerLines } from "./helpers.ts";

await answerLines(({ query, natural }) => {
  const { state, problems } = parse(query, DEFAULTS, natural);
  return { spec: state.spec, problems, written: format(state, DEFAULTS, natural) };
});
