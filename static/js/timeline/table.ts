// The schedule as a table, for screen readers and readers who prefer text: a row a rank with what is in sight of it,
// its ops in order. Made when someone opens it, and bounded; what it leaves out, and how to read that, is said.
import { timeNumber, timeText } from "../data/costs/time_unit.ts";
import { byId, h, replace } from "../ui/dom.ts";
import { totals } from "../core/timeline/area.ts";
import { copyRows, copyTimes } from "../core/timeline/copy_rows.ts";
import { t } from "../core/i18n/language.ts";
import { opsInWindow, rankOrder } from "../core/timeline/layout.ts";
import { opText } from "../core/schedule/ops.ts";
import { formatPercent } from "../core/i18n/numbers.ts";
import type { Lane } from "../data/lanes.ts";
import type { View } from "../core/timeline/viewport.ts";

const MOST_RANKS = 64;
const MOST_OPS = 60; // of a rank
const REST = 400; // ms without a change of the window

export function createTable(
  lanes: () => Lane[],
  titleOf: (id: string) => string,
  visible: () => View,
  pins: () => Record<string, number[]>,
) {
  const home = byId("table");
  const holder = h("div", { id: "schedule-table", tabindex: 0 });
  const make = h("button", { type: "button", class: "skip", onclick: open }, t("Read the schedule as a table"));
  const close = h("button", { type: "button", class: "button soft", onclick: shut }, t("Close"));
  const dialog = h(
    "dialog",
    { class: "table-dialog", "aria-label": t("The schedule as a table"), onkeydown: closeByKey },
    h("div", { class: "table-head" }, h("h2", { text: t("The schedule as a table") }), close),
    holder,
  );
  home.append(make, dialog);
  let wanted = false;
  let timer = 0;
  /** What the table was made of: a reader keeps their place while that stays. */
  let made: unknown[] = [];

  const source = () => [visible().t0, visible().t1, JSON.stringify(pins()), ...lanes().map(({ times }) => times)];

  /** The timeline beside it stays in use: the table follows its window. */
  function open() {
    fill();
    dialog.show();
    holder.focus();
  }

  function shut() {
    wanted = false;
    dialog.close();
    make.focus();
  }

  function closeByKey(event: KeyboardEvent) {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    shut();
  }

  function fill() {
    wanted = true;
    made = source();
    const view = visible();
    replace(holder, ...lanes().flatMap((lane) => sectionOf(lane, titleOf(lane.id), view, pins()[lane.id])));
  }

  return {
    /** The schedule changed, or the window, or the pins. */
    refresh() {
      if (!wanted) return;
      clearTimeout(timer);
      timer = window.setTimeout(() => {
        const now = source();
        if (now.length !== made.length || now.some((each, at) => each !== made[at])) fill();
      }, REST);
    },
  };
}

function sectionOf(lane: Lane, title: string, view: View, pinned?: number[]) {
  const { p } = lane.schedule;
  const ranks = rankOrder(p, pinned).slice(0, MOST_RANKS);
  const cut = ranks.some((rank) => {
    const [lo, hi] = opsInWindow(lane.schedule, lane.times, rank, view.t0, view.t1);
    return hi - lo > MOST_OPS;
  });
  const notes = [
    t("Ops between {from} and {to}, which is what the timeline shows.", {
      from: timeNumber(view.t0),
      to: timeText(Math.min(view.t1, lane.end)),
    }),
  ];
  if (cut)
    notes.push(
      t("Of each rank the first {n} are listed: zoom in with W and pan with A and D to read others.", { n: MOST_OPS }),
    );
  if (p > MOST_RANKS)
    notes.push(
      t("{n} of {p} ranks are listed: select an op of another rank and press P to pin it, and it comes first.", {
        n: MOST_RANKS,
        p,
      }),
    );
  const head = [t("Rank"), t("Busy"), t("Idle"), t("Visible ops")].map((text) => h("th", { scope: "col", text }));
  const rows = ranks.flatMap((rank) => rowsOf(lane, rank, view));
  return [
    h(
      "table",
      { class: "sr-table" },
      h("caption", { text: t("{title}: {p} ranks. {notes}", { title, p, notes: notes.join(" ") }) }),
      h("thead", {}, h("tr", {}, ...head, h("th", { scope: "col", text: t("Each op, its start and its end") }))),
      h("tbody", {}, ...rows),
    ),
  ];
}

/** A rank's ops, and its copies under them. */
function rowsOf(lane: Lane, rank: number, view: View) {
  const { schedule, times } = lane;
  const [lo, hi] = opsInWindow(schedule, times, rank, view.t0, view.t1);
  const sums = totals(lane, { lane: lane.id, first: rank, last: rank }, view.t0, view.t1);
  const host = lane.hosts?.[rank];
  const rows = [
    h(
      "tr",
      {},
      h("th", { scope: "row", text: host ? t("Rank {rank} on {host}", { rank, host }) : t("Rank {rank}", { rank }) }),
      h("td", { text: timeText(sums.busy) }),
      h("td", { text: `${timeText(sums.idle)} (${formatPercent(sums.bubble)})` }),
      h("td", { text: hi - lo }),
      ...cellsOf(lane, lo, hi),
    ),
  ];
  const copies = copyRows(schedule);
  if (!copies) return rows;
  const [from, to] = opsInWindow(copies, copyTimes(schedule, times), rank, view.t0, view.t1);
  rows.push(
    h(
      "tr",
      {},
      h("th", { scope: "row", text: t("Copies of rank {rank}", { rank }) }),
      h("td", { text: timeText(sums.copies.reduce((sum, { time }) => sum + time, 0)) }),
      h("td"),
      h("td", { text: to - from }),
      ...cellsOf(lane, from + schedule.count, to + schedule.count),
    ),
  );
  return rows;
}

function cellsOf({ schedule, times }: Lane, lo: number, hi: number) {
  const cells = [];
  for (let i = lo; i < Math.min(hi, lo + MOST_OPS); i++) {
    cells.push(
      h("td", {
        text: t("{op} {start} to {end}", {
          op: opText(schedule, i),
          start: timeNumber(times.start[i]),
          end: timeNumber(times.end[i]),
        }),
      }),
    );
  }
  if (hi - lo > MOST_OPS) cells.push(h("td", { text: t("and {n} more", { n: hi - lo - MOST_OPS }) }));
  return cells;
}
