// What the reader may drag to next is timed and drawn once off the screen, while the page is idle. The first
// frames of a drag would otherwise wait while code is compiled, fonts are loaded and memory is obtained.

import type { Lane } from "./lanes.ts";
import type { Plan } from "./plan.ts";
import type { Spec } from "../core/schedule/types.ts";

const NEAR = 8; // stops next to the present one
const SPREAD = 16; // and over the whole slider: rows of other heights are drawn in other ways
const LARGE = 100_000; // ops of an order that is not worth drawing ahead
const SLICE = 4; // ms that must be left for a drawing to begin

/** lanesWith: the lanes on the screen with one plan changed; null: there is no such order here. */
export function createRehearsal(lanesWith: (plan: Plan, spec: Spec) => Lane[] | null, draw: (lanes: Lane[]) => void) {
  /** The fields that were rehearsed, by family. */
  const done = new Set<string>();
  let now: { plan: Plan; specs: Spec[] } | null = null;

  function work(idle: IdleDeadline) {
    while (now && now.specs.length && idle.timeRemaining() > SLICE) {
      const [spec] = now.specs.splice(0, 1);
      const lanes = lanesWith(now.plan, spec);
      if (lanes) draw(lanes);
    }
    if (now?.specs.length) requestIdleCallback(work);
    else now = null;
  }

  return {
    /** The reader's hand is on a field of a plan. value: the present one. */
    begin(plan: Plan, field: string, withValue: (value: number) => Spec, stops: number[], value: number) {
      const { asked } = plan;
      const key = `${plan.id} ${asked.family} ${asked.offload} ${asked.vocabulary} ${field}`;
      if (!window.requestIdleCallback || done.has(key) || !isSmall(asked)) return;
      done.add(key);
      if (!now) requestIdleCallback(work);
      now = { plan, specs: rehearsed(stops, value).map(withValue).filter(isSmall) };
    },
    /** The drag itself has begun. */
    end() {
      now = null;
    },
  };
}

const isSmall = ({ p, m, v }: Spec) => 3 * p * m * v <= LARGE;

/** The stops to rehearse, nearest first, then over the whole slider. */
function rehearsed(stops: number[], value: number) {
  const near = stops.filter((stop) => stop !== value).sort((x, y) => Math.abs(x - value) - Math.abs(y - value));
  const far = Array.from({ length: SPREAD }, (_, k) => stops[Math.floor(((k + 0.5) * stops.length) / SPREAD)]);
  return [...new Set([...near.slice(0, NEAR), ...far])].filter((stop) => stop !== undefined && stop !== value);
}
