// Figures of steps for tests/schedule/hardware/test_step_units.py: one JSON case a line in, one answer a line out.
// Case: {"wire": base64, "priced": the answer of /api/costs}.
import { stepUnits } from "../../../static/js/data/costs/step_units.ts";
import { timing } from "../../../static/js/core/schedule/effective_costs.ts";
import { simulate } from "../../../static/js/core/schedule/simulate.ts";
import { decode } from "../../../static/js/core/schedule/wire.ts";
import { answerLines, bytes } from "./helpers.ts";

await answerLines(({ wire, priced }) => {
  const schedule = decode(bytes(wire));
  const times = simulate(schedule, timing(schedule.spec));
  return stepUnits(priced, { schedule, shown: schedule.spec, times });
});
