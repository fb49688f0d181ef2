// What the reader may drag to next is timed and drawn once off the screen, while the page is idle. The first
// frames of a drag would otherwise wait while code is compiled, fonts are loaded and memory is obtained.

/** @import {Lane} from "./lanes.js" */
/** @import {Plan} from "./plan.js" */
/** @import {Spec} from "../core/schedule/types.js" */

const NEAR = 8; // stops next to the present one
const SPREAD = 16; // and over the whole slider: rows of other heights are drawn in other ways
const LARGE = 100_000; // ops of an order that is not worth drawing ahead
const SLICE = 4; // ms that must be left for a drawing to begin

/**
 * @param {(plan: Plan, spec: Spec) => Lane[] | null} lanesWith the lanes on the screen with one plan changed;
 *   null: there is no such order here
 * @param {(lanes: Lane[]) => void} draw
 */
export function createRehearsal(lanesWith, draw) {
  /** @type {Set<string>} the fields that were rehearsed, by family */
  const done = new Set();
  /** @type {{plan: Plan, specs: Spec[]} | null} */
  let now = null;

  /** @param {IdleDeadline} idle */
  function work(idle) {
    while (now && now.specs.length && idle.timeRemaining() > SLICE) {
      const [spec] = now.specs.splice(0, 1);
      const lanes = lanesWith(now.plan, spec);
      if (lanes) draw(lanes);
    }
    if (now?.specs.length) requestIdleCallback(work);
    else now = null;
  }

  return {
    /** The reader's hand is on a field of a plan. @param {Plan} plan @param {string} field
     * @param {(value: number) => Spec} withValue @param {number[]} stops @param {number} value the present one */
    begin(plan, field, withValue, stops, value) {
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

/** @param {Spec} spec */
const isSmall = ({ p, m, v }) => 3 * p * m * v <= LARGE;

/** The stops to rehearse, nearest first, then over the whole slider. @param {number[]} stops @param {number} value */
function rehearsed(stops, value) {
  const near = stops.filter((stop) => stop !== value).sort((x, y) => Math.abs(x - value) - Math.abs(y - value));
  const far = Array.from({ length: SPREAD }, (_, k) => stops[Math.floor(((k + 0.5) * stops.length) / SPREAD)]);
  return [...new Set([...near.slice(0, NEAR), ...far])].filter((stop) => stop !== undefined && stop !== value);
}
