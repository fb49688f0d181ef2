// The position of the workbench in the place of a plan, so that the timeline and the runs find it where they find
// every schedule. Nothing is requested: its order and times are made here.
import { Plans } from "../plans.ts";
import { invalidate } from "../../ui/frame_loop.ts";
import { t } from "../../core/i18n/language.ts";
import { figures } from "../../core/schedule/metrics.ts";
import { IMPORTED } from "../../core/schedule/spec_tables.ts";
import { isWhole, scheduleOf, shownSchedule, tablesOf, timesOf, type Position } from "../../core/workbench/position.ts";
import type { Family } from "../../core/schedule/types.ts";
import type { Lane } from "../lanes.ts";
import type { Store } from "../store.ts";

const ROOM = 0.16; // of the time axis that stays free at its right, for the next ops
const LEAST_ROOM = 4; // ops

export class BoardPlans extends Plans {
  position: Position;

  #answered: (() => void)[] = [];
  #lanes: Lane[] = [];

  constructor(store: Store, families: Family[], position: Position) {
    super(store, families);
    this.position = position;
    this.show(position);
  }

  override onAnswer(listener: () => void) {
    this.#answered.push(listener);
    listener();
  }

  override sync() {}

  override lanes() {
    return this.#lanes;
  }

  override family(name: string): Family | null {
    const family = super.family(name);
    return family && name === IMPORTED ? { ...family, title: t("Your order") } : family;
  }

  /** Put a position on the timeline. */
  show(position: Position) {
    this.position = position;
    const { board } = position;
    const schedule = shownSchedule(position);
    const { times } = timesOf(position);
    const whole = isWhole(position);
    const op = (board.costs.F === 0 ? 1 : mean(board.costs.F) / board.v) || 1;
    const end = whole ? times.makespan : Math.max(times.makespan / (1 - ROOM), times.makespan + LEAST_ROOM * op);
    Object.assign(this.first, {
      ...{ asked: board.spec, shown: board.spec, answered: board.spec, error: null },
      ...{ order: schedule, schedule, times },
      figures: figures(scheduleOf(position), times),
      memory: tablesOf(position).peak.reduce((most, each) => Math.max(most, each), 0) / board.v,
    });
    this.#lanes = [
      {
        ...{ id: "a", kind: "plan", schedule, times, spec: board.spec, family: t("The order"), costs: board.costs },
        ...{ end, stale: false, live: false, open: !whole, asynchronous: false },
      },
    ];
    for (const listener of this.#answered) listener();
    invalidate("plan");
  }
}

const mean = (cost: number | number[]) =>
  typeof cost === "number" ? cost : cost.reduce((a, b) => a + b, 0) / cost.length;
