// Figures of steps for tests/schedule/hardware/test_step_units.py: one JSON case a line in, one answer a line out.
// Case: {"wire": base64, "priced": the answer of /api/costs}.
import { createInterface } from "node:readline";

import { stepUnits } from "../../../static/js/data/costs/step_units.ts";
import { timing } from "../../../static/js/core/schedule/effective_costs.ts";
import { simulate } from "../../../static/js/core/schedule/simulate.ts";
import { decode } from "../../../static/js/core/schedule/wire.ts";

for await (const line of createInterface({ input: process.stdin })) {
  const { wire, priced } = JSON.parse(line);
  const bytes = Buffer.from(wire, "base64");
  const schedule = decode(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
  const times = simulate(schedule, timing(schedule.spec));
  process.stdout.write(`${JSON.stringify(stepUnits(priced, { schedule, shown: schedule.spec, times }))}\n`);
}
