// The selected op: by click or keyboard, kept as text so that it survives another schedule and travels in the link.
import { traceOp } from "./trace.js";
import { opAt, firstEndingAfter } from "./pure/layout.js";
import { find, opText } from "./pure/ops.js";

/** @import {Lane} from "./lanes.js" */
/** @import {Store} from "./store.js" */
/** @import {Trace} from "./trace.js" */

/** @param {Store} store @param {() => Lane[]} lanes @param {() => void} changed */
export function createSelection(store, lanes, changed) {
  /** @type {Trace | null} */
  let trace = null;

  /** "2F5", or "2F5@b" in the second plan, "2F5@run" in the run. */
  function current() {
    const sel = store.get().view.sel;
    if (!sel) return (trace = null);
    const [text, id = "a"] = sel.split("@");
    const lane = lanes().find((each) => each.id === id);
    const op = lane ? find(lane.schedule, text) : null;
    if (!lane || !op || !Number.isFinite(lane.times.end[op.i])) return (trace = null);
    if (trace?.op?.i !== op.i || trace.lane !== lane || lane.live) trace = traceOp(lane, op);
    return trace;
  }

  /** @param {Lane} lane @param {number} i */
  function choose(lane, i) {
    const text = opText(lane.schedule, i);
    store.setView({ sel: lane.id === "a" ? text : `${text}@${lane.id}` });
    changed();
  }

  /** @param {Trace | null} next */
  function select(next) {
    if (next?.op) choose(next.lane, next.op.i);
    else clear();
  }

  function clear() {
    if (!store.get().view.sel) return;
    store.setView({ sel: null });
    changed();
  }

  /** The next or the previous op on the row; without a selection the first op in sight. */
  /** @param {1 | -1} way @param {number} t0 */
  function step(way, t0) {
    const now = current();
    if (!now?.op) { first(t0); return; }
    const { schedule, times } = now.lane;
    const i = now.op.i + way;
    if (i < schedule.offsets[now.rank] || i >= schedule.offsets[now.rank + 1]) return;
    if (Number.isFinite(times.end[i])) choose(now.lane, i);
  }

  /** @param {number} t0 */
  function first(t0) {
    const lane = lanes()[0];
    if (!lane) return;
    const i = firstEndingAfter(lane.schedule, lane.times, 0, t0);
    if (i < lane.schedule.offsets[1]) choose(lane, i);
  }

  /** To the rank above or below, at the same moment; from the last rank of a group to the first of the next. */
  /** @param {1 | -1} way @param {number} t0 */
  function climb(way, t0) {
    const now = current();
    if (!now?.op) { first(t0); return; }
    let lane = now.lane;
    let rank = now.rank + way;
    if (rank < 0 || rank >= lane.schedule.p) {
      const neighbour = lanes()[lanes().indexOf(lane) + way];
      if (!neighbour) return;
      lane = neighbour;
      rank = way > 0 ? 0 : lane.schedule.p - 1;
    }
    const t = (now.lane.times.start[now.op.i] + now.lane.times.end[now.op.i]) / 2;
    const here = opAt(lane.schedule, lane.times, rank, t);
    const last = lane.schedule.offsets[rank + 1] - 1;
    const i = here >= 0 ? here : Math.min(last, firstEndingAfter(lane.schedule, lane.times, rank, t));
    if (Number.isFinite(lane.times.end[i])) choose(lane, i);
  }

  return { current, select, clear, step, climb };
}

/** @typedef {ReturnType<typeof createSelection>} Selection */
