// The rows as lists, for screen readers: what each rank does, in order, and what can come next on it.
import { t } from "../../core/i18n/language.ts";
import { scheduleOf } from "../../core/workbench/position.ts";
import { opText } from "../../core/schedule/ops.ts";
import { h, replace } from "../../ui/dom.ts";
import type { Session } from "../../core/workbench/session.ts";

const MOST_OPS = 24; // of a row; the last ones

export function createRows(session: Session) {
  const node = h("div#bench-rows");

  function sync() {
    const { position } = session;
    const schedule = scheduleOf(position);
    replace(
      node,
      ...position.rows.map((row, rank) => {
        const from = Math.max(0, row.length - MOST_OPS);
        const ops = Array.from({ length: row.length - from }, (_, k) =>
          opText(schedule, schedule.offsets[rank] + from + k),
        );
        const label =
          from > 0
            ? t("{row} Its last {count} ops:", { row: session.rankText(rank), count: MOST_OPS })
            : session.rankText(rank);
        return h("ol", { "aria-label": label, start: from + 1 }, ...ops.map((text) => h("li", { text })));
      }),
    );
  }

  return { node, sync };
}
