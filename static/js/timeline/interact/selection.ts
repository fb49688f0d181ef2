// The selected op: by click or keyboard, kept as text so that it survives another schedule and travels in the link.
// Idle time can be pinned in its place, as long as its lane stays as it is.
import { traceAt, traceOp, type Trace } from "../trace.ts";
import { opAt, firstEndingAfter, rankOrder } from "../../core/timeline/layout.ts";
import { find, opText, rowsOf } from "../../core/schedule/ops.ts";
import { readPins } from "../../core/state/marks.ts";
import type { Lane } from "../../data/lanes.ts";
import type { Store } from "../../data/store.ts";

export class Selection {
  store: Store;
  lanes: () => Lane[];
  changed: () => void;

  #trace: Trace | null = null;
  /** Pinned idle time. */
  #idle: Trace | null = null;

  constructor(store: Store, lanes: () => Lane[], changed: () => void) {
    this.store = store;
    this.lanes = lanes;
    this.changed = changed;
  }

  /** The link has "2F5", or "2F5@b" in the second plan, "2F5@run" in the run. */
  current(): Trace | null {
    if (!this.store.get().view.sel) return this.#pinned();
    const [text, id = "a"] = (this.store.get().view.sel ?? "").split("@");
    const lane = text ? this.lanes().find((each) => each.id === id) : null;
    const op = lane ? find(lane.schedule, text) : null;
    if (!lane || !op || !Number.isFinite(lane.times.end[op.i])) this.#trace = null;
    else if (this.#trace?.op?.i !== op.i || this.#trace.lane !== lane || lane.live) this.#trace = traceOp(lane, op);
    return this.#trace;
  }

  #pinned(): Trace | null {
    const idle = this.#idle;
    if (idle && !this.lanes().some((lane) => lane.id === idle.lane.id && lane.times === idle.lane.times))
      this.#idle = null;
    return this.#idle;
  }

  /** Select an op of a lane, and remove the area. */
  choose(lane: Lane, i: number) {
    if (!Number.isFinite(lane.times.end[i])) return;
    const text = opText(lane.schedule, i);
    this.#idle = null;
    this.store.setView({ sel: lane.id === "a" ? text : `${text}@${lane.id}`, area: null });
    this.changed();
  }

  select(trace: Trace | null) {
    if (trace?.op) this.choose(trace.lane, trace.op.i);
    else if (trace?.idle) this.#pin(trace);
    else this.clear();
  }

  /** Pin why a rank is idle. */
  #pin(trace: Trace) {
    this.#idle = trace;
    this.store.setView({ sel: null, area: null });
    this.changed();
  }

  /** Pin the idle time before the selected op, if there is some. */
  pinIdleBefore() {
    const now = this.current();
    if (!now?.op || now.op.i >= now.lane.schedule.count) return;
    const { lane, rank, op } = now;
    const from = op.index > 0 ? lane.times.end[op.i - 1] : 0;
    const trace = traceAt(lane, rank, (from + lane.times.start[op.i]) / 2);
    if (trace?.idle) this.#pin(trace);
  }

  /** Returns whether there was anything to clear. */
  clear() {
    if (!this.current() && !this.store.get().view.sel) return false;
    this.#idle = null;
    this.store.setView({ sel: null });
    this.changed();
    return true;
  }

  /** Its ranks from top to bottom. */
  #order({ id, schedule }: Lane) {
    return rankOrder(schedule.p, readPins(this.store.get().view.pin)?.[id]);
  }

  /** The first op in sight. */
  #first(t0: number) {
    const lane = this.lanes()[0];
    if (!lane) return;
    const [rank] = this.#order(lane);
    const i = firstEndingAfter(lane.schedule, lane.times, rank, t0);
    if (i < lane.schedule.offsets[rank + 1]) this.choose(lane, i);
  }

  /** The next or the previous op on the row, of copies the next copy. */
  step(way: 1 | -1, t0: number) {
    const now = this.current();
    if (!now?.op) {
      this.#first(t0);
      return;
    }
    const offsets = rowsOf(now.lane.schedule, now.op.i);
    const i = now.op.i + way;
    if (i >= offsets[now.rank] && i < offsets[now.rank + 1]) this.choose(now.lane, i);
  }

  /** To the row above or below at the same moment: a rank's copies are between its ops and those of the next rank; from
   * the last rank of a group it goes to the first of the next. */
  climb(way: 1 | -1, t0: number) {
    const now = this.current();
    if (!now?.op) {
      this.#first(t0);
      return;
    }
    const t = (now.lane.times.start[now.op.i] + now.lane.times.end[now.op.i]) / 2;
    const copying = now.op.i >= now.lane.schedule.count;
    if (copying !== way > 0 && this.#land(now.lane, now.rank, t, way > 0)) return;
    let lane = now.lane;
    let order = this.#order(lane);
    let at = order.indexOf(now.rank) + way;
    if (at < 0 || at >= order.length) {
      const neighbour = this.lanes()[this.lanes().indexOf(lane) + way];
      if (!neighbour) return;
      lane = neighbour;
      order = this.#order(lane);
      at = way > 0 ? 0 : order.length - 1;
    }
    const rank = order[at];
    if (way > 0 || !this.#land(lane, rank, t, true)) this.#land(lane, rank, t, false);
  }

  /** Choose what runs at a time, or next, on a row of ops or of copies; false where a rank has none. */
  #land(lane: Lane, rank: number, t: number, copies: boolean) {
    const { schedule, times } = lane;
    const rows = copies ? schedule.copies : schedule;
    if (!rows || rows.offsets[rank] === rows.offsets[rank + 1]) return false;
    const here = opAt(rows, times, rank, t);
    const last = rows.offsets[rank + 1] - 1;
    this.choose(lane, here >= 0 ? here : Math.min(last, firstEndingAfter(rows, times, rank, t)));
    return true;
  }
}
