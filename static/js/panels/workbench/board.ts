// The board: what can be placed, as buttons at the ends of the rows; the order that is followed, drawn faintly; ops
// that wait for their input; the move that is looked at; marks on violations; and why a move was refused, where it was
// tried.
import { boxOf, timeAt, xOf } from "../../timeline/draw/axis.ts";
import { hit, type Row } from "../../core/timeline/layout.ts";
import { t } from "../../core/i18n/language.ts";
import { kindOf } from "../../core/schedule/ops.ts";
import { moveCost, type MoveCost } from "../../core/workbench/bound.ts";
import { codeOf, scheduleOf, timesOf, type Position } from "../../core/workbench/position.ts";
import { textOf } from "../../core/workbench/legality.ts";
import { h, keepFocus, replace, setText, show } from "../../ui/dom.ts";
import { invalidate, onStage } from "../../ui/frame_loop.ts";
import { colour } from "../../ui/palette.ts";
import type { Session } from "../../core/workbench/session.ts";
import type { Timeline } from "../../timeline/timeline.ts";
import type { Scene } from "../../data/lanes.ts";

type Parts = {
  session: Session;
  timeline: Timeline;
  ghost: () => Position | null;
  marked: () => { rank: number; index: number }[];
  hinted: () => { rank: number; op: number } | null;
  look: (rank: number, op: number) => void; // at a move, -1 for none
};

const CHIP = 34; // px; as wide as a finger needs, with the space after it
const LEAST_HEIGHT = 11; // of a row that has chips
const MOST_CHIPS = 4; // a row
const MOST_GHOSTS = 4000; // ops drawn faintly
const MOST_TIMED = 1200; // ops up to which each row's move is timed before it is made
const STILL = 5; // px a press may move and still be a click
const REFUSAL_MS = 7000;
const CHIP_KINDS = ["f", "i", "w", "b", "pair"];

export function createBoardLayer({ session, timeline, ghost, marked, hinted, look }: Parts) {
  const holder = h("div#placing.placing", { role: "group", "aria-label": t("What can be placed next") });
  const refusal = h("p#refusal.refusal", { role: "alert", hidden: true });
  timeline.plot.append(holder, refusal);
  let timer = 0;
  let refusedAt = -1;
  let shown = ""; // the chips as they are
  let looked: MoveCost | null = null;

  timeline.layers.unshift({
    busy: () => true,
    draw(scene, ctx) {
      drawChosen(scene, ctx, session.rank);
      drawGhost(scene, ctx, session.position, ghost());
      drawWaiting(scene, ctx, session.position);
      if (looked) drawMove(scene, ctx, session.position, looked);
      for (const { rank, index } of marked()) outline(scene, ctx, session.position, rank, index);
    },
  });
  onStage("figures", place);
  clicks(timeline, (rank, time) => {
    if (time < endOf(session.position, rank) - 1e-9) return; // on an op or in a gap: that is explained
    session.placePick(rank);
  });

  /** The chips of a row stand behind its last op. */
  function place() {
    const { scene } = timeline;
    const group = scene.layout.groups.find(({ id }) => id === "a");
    const rows = group?.rows.filter(({ h: height }) => height >= LEAST_HEIGHT) ?? [];
    const chips = rows.flatMap((row) => chipsOf(scene, row));
    const shows = chips.map((chip) => chip.outerHTML).join("");
    // A chip that is replaced between press and release is not clicked, so equal ones stay.
    if (shows !== shown) keepFocus(holder, () => replace(holder, ...chips));
    shown = shows;
    if (refusedAt >= 0) putRefusal();
  }

  function chipsOf(scene: Scene, row: Row) {
    const { layout } = scene;
    const right = layout.plotLeft + layout.plotWidth;
    const end = xOf(scene, endOf(session.position, row.rank));
    if (end < layout.plotLeft - 1 || end > right + 1) return [];
    const legal = session.legal(row.rank);
    const some = legal.slice(0, MOST_CHIPS);
    const alone = some.length === 1 ? moveOf(row.rank, some[0].op) : null;
    const wide = alone ? Math.max(CHIP, xOf(scene, alone.to) - xOf(scene, alone.from)) - 2 : CHIP - 2;
    const left = Math.min(alone ? xOf(scene, alone.from) + 1 : end + 2, right - CHIP * some.length);
    const want = hinted();
    return some.map(({ op, kind }, at) => {
      const text = textOf(session.board, row.rank, op).replace(/^\((.*);(.*)\)OVERLAP_F_B$/, "$1+$2");
      const chip = h(
        "button",
        {
          class: `chip chip-${CHIP_KINDS[kind]}${want?.rank === row.rank && want.op === op ? " is-hinted" : ""}`,
          id: `chip-${row.rank}-${op}`,
          tabindex: -1, // the palette is for the keyboard: a board of sixteen rows has too many stops
          "data-op": text,
          "aria-label": t("Place {op} on rank {rank}", { op: text, rank: row.rank }),
          onclick: () => session.place(row.rank, op),
          onpointerenter: () => look(row.rank, op),
          onpointerleave: () => look(row.rank, -1),
        },
        text,
      );
      chip.style.width = `${Math.round(Math.min(wide, right - left))}px`;
      chip.style.transform = `translate(${Math.round(left + at * CHIP)}px, ${Math.round(row.y)}px)`;
      chip.style.height = `${Math.round(row.h)}px`;
      return chip;
    });
  }

  /** The only op that can come next on a row is as long as it would run. */
  function moveOf(rank: number, op: number) {
    const { position, backward } = session;
    return position.count < MOST_TIMED ? moveCost(position, rank, op, backward === "full") : null;
  }

  function putRefusal() {
    const row = timeline.scene.layout.groups.find(({ id }) => id === "a")?.rows.find(({ rank }) => rank === refusedAt);
    const box = timeline.plot.getBoundingClientRect();
    const x = row ? Math.min(xOf(timeline.scene, endOf(session.position, refusedAt)), box.width) : 0;
    const y = row ? row.y + row.h + 6 : 0;
    const wide = Math.min(340, box.width - 16);
    refusal.style.maxWidth = `${wide}px`;
    refusal.style.left = `${Math.max(8, Math.min(x - 40, box.width - wide - 8))}px`;
    refusal.style.top = `${Math.max(4, Math.min(y, box.height - refusal.offsetHeight - 4))}px`;
  }

  function hideRefusal() {
    refusedAt = -1;
    show(refusal, false);
  }

  return {
    /** Say at a rank why a move was refused. */
    refuse(rank: number, sentence: string) {
      refusedAt = rank;
      show(refusal, true);
      setText(refusal, sentence);
      putRefusal();
      clearTimeout(timer);
      timer = window.setTimeout(hideRefusal, REFUSAL_MS);
    },
    hideRefusal,
    /** The rank of a place on the screen; -1 for none. */
    rankAt(clientX: number, clientY: number) {
      const box = timeline.plot.getBoundingClientRect();
      if (clientX < box.left || clientX > box.right || clientY < box.top || clientY > box.bottom) return -1;
      const found = hit(timeline.scene.layout, clientX - box.left, clientY - box.top);
      return found?.group === "a" ? found.rank : -1;
    },
    /** Outline where an op would run. */
    show(move: MoveCost | null) {
      looked = move;
      invalidate("overlay");
    },
    redraw: () => invalidate("overlay", "figures"),
  };
}

/** Clicks and taps that do not move, on the ops of the first lane. */
function clicks(timeline: Timeline, act: (rank: number, time: number) => void) {
  const { plot } = timeline;
  let down = { x: 0, y: 0 };
  plot.addEventListener("pointerdown", (event) => (down = { x: event.clientX, y: event.clientY }), { capture: true });
  plot.addEventListener("click", (event) => {
    if (event.target instanceof Element && event.target.closest("button, a, input, .area-panel")) return;
    if (event.shiftKey || Math.hypot(event.clientX - down.x, event.clientY - down.y) > STILL) return;
    const box = plot.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const { scene } = timeline;
    const found = hit(scene.layout, x, y);
    if (found?.group === "a" && found.inPlot && found.part === "ops") act(found.rank, timeAt(scene, x));
  });
}

/** When a rank's placed ops end, with the ops that wait counted one after the other. */
export function endOf(position: Position, rank: number) {
  const { at, times } = timesOf(position);
  const { offsets } = scheduleOf(position);
  const ran = at[rank] > offsets[rank] ? times.end[at[rank] - 1] : 0;
  return ran + (offsets[rank + 1] - at[rank]) * nominal(position);
}

/** The time that an op without times is drawn with. */
function nominal({ board }: Position) {
  const { F } = board.costs;
  const whole = typeof F === "number" ? F / board.v : F[0];
  return whole || 1;
}

const inkOf = (kind: number) => colour(["k-f", "k-i", "k-w", "k-b", "k-b"][kind]);

/** A bar beside the chosen rank's row. */
function drawChosen(scene: Scene, ctx: CanvasRenderingContext2D, rank: number) {
  const row = scene.layout.groups.find(({ id }) => id === "a")?.rows.find((each) => each.rank === rank);
  if (!row) return;
  ctx.fillStyle = colour("accent");
  ctx.fillRect(scene.layout.plotLeft - 5, row.y, 3, row.h);
}

/** The ops of the order that is followed which are not placed, as outlines at their times. */
function drawGhost(scene: Scene, ctx: CanvasRenderingContext2D, position: Position, reference: Position | null) {
  if (!reference || reference.count > MOST_GHOSTS) return;
  const { times } = timesOf(reference);
  const { offsets } = scheduleOf(reference);
  const { chunks } = reference.board;
  const { layout, t0, t1 } = scene;
  const group = layout.groups.find(({ id }) => id === "a");
  ctx.save();
  ctx.beginPath();
  ctx.rect(layout.plotLeft, layout.axisHeight, layout.plotWidth, ctx.canvas.height);
  ctx.clip();
  ctx.setLineDash([3, 2]);
  ctx.lineWidth = 1.25;
  ctx.globalAlpha = 0.55;
  for (const row of group?.rows ?? []) {
    const from = offsets[row.rank] + position.rows[row.rank].length;
    for (let i = from; i < offsets[row.rank + 1]; i++) {
      if (times.end[i] < t0 || times.start[i] > t1) continue;
      const x = xOf(scene, times.start[i]);
      ctx.strokeStyle = inkOf(kindOf(codeOf(reference.rows[row.rank][i - offsets[row.rank]]), chunks));
      ctx.strokeRect(x + 1, row.y + 1, Math.max(1, xOf(scene, times.end[i]) - x - 2), row.h - 2);
    }
  }
  ctx.restore();
}

/** The move that is looked at: the op's outline where it would run, and the idle time before it. */
function drawMove(
  scene: Scene,
  ctx: CanvasRenderingContext2D,
  { board }: Position,
  { rank, op, from, to, idle }: MoveCost,
) {
  const row = scene.layout.groups.find(({ id }) => id === "a")?.rows.find((each) => each.rank === rank);
  if (!row) return;
  const [start, left, right] = [from - idle, from, to].map((time) => xOf(scene, time));
  ctx.save();
  ctx.strokeStyle = inkOf(kindOf(codeOf(op), board.chunks));
  ctx.lineWidth = 2;
  ctx.strokeRect(left + 1, row.y + 1, Math.max(2, right - left - 2), row.h - 2);
  if (idle > 0) {
    ctx.fillStyle = colour("mark-needs");
    ctx.globalAlpha = 0.16;
    ctx.fillRect(start, row.y, left - start, row.h);
  }
  ctx.restore();
}

/** Ops that wait for an input which is not placed: hollow boxes behind their rank's last op that runs. */
function drawWaiting(scene: Scene, ctx: CanvasRenderingContext2D, position: Position) {
  const { at, times } = timesOf(position);
  const { offsets } = scheduleOf(position);
  const wide = nominal(position);
  const group = scene.layout.groups.find(({ id }) => id === "a");
  ctx.save();
  ctx.setLineDash([2, 2]);
  ctx.font = `11px ${getComputedStyle(ctx.canvas).fontFamily}`;
  ctx.textBaseline = "middle";
  for (const { rank, y, h: height } of group?.rows ?? []) {
    const ran = at[rank] > offsets[rank] ? times.end[at[rank] - 1] : 0;
    for (let i = at[rank]; i < offsets[rank + 1]; i++) {
      const op = position.rows[rank][i - offsets[rank]];
      const x = xOf(scene, ran + (i - at[rank]) * wide);
      const w = xOf(scene, ran + (i - at[rank] + 1) * wide) - x - 2;
      ctx.strokeStyle = inkOf(kindOf(codeOf(op), position.board.chunks));
      ctx.strokeRect(x + 1, y + 1, Math.max(2, w), height - 2);
      ctx.fillStyle = colour("plot-ink");
      const text = textOf(position.board, rank, op);
      if (ctx.measureText(text).width < w && height > 12) ctx.fillText(text, x + 4, y + height / 2);
    }
  }
  ctx.restore();
}

/** A red frame around an op that breaks a rule. */
function outline(scene: Scene, ctx: CanvasRenderingContext2D, position: Position, rank: number, index: number) {
  const { offsets } = scheduleOf(position);
  const { at, times } = timesOf(position);
  const i = offsets[rank] + index;
  const box =
    boxOf(scene, "a", rank, i) ?? waitingBox(scene, position, rank, i - at[rank], times.end[at[rank] - 1] ?? 0);
  if (!box) return;
  ctx.strokeStyle = colour("mark-needs");
  ctx.lineWidth = 2;
  ctx.strokeRect(box.x + 1, box.y + 1, Math.max(2, box.w - 2), box.h - 2);
}

/** place: among those that wait. */
function waitingBox(scene: Scene, position: Position, rank: number, place: number, ran: number) {
  const row = scene.layout.groups.find(({ id }) => id === "a")?.rows.find((each) => each.rank === rank);
  if (!row || place < 0) return null;
  const wide = nominal(position);
  const from = (timesOf(position).at[rank] > scheduleOf(position).offsets[rank] ? ran : 0) + place * wide;
  const x = xOf(scene, from);
  return { x, y: row.y, w: xOf(scene, from + wide) - x, h: row.h };
}
