// The messages of each rank as a thin lane under its row: above those it sends, below those it receives. Of a plan
// each is a bar from the end of the op that makes it until it is there. Of a run those it sends are bars from when
// they were posted until they are known to have come, those it receives bars for as long as the rank waited for them.
// What takes no time, or none that is known, is a tick; a gradient is hollow.
import { rowOf, timeAt, xOf, type Box } from "./axis.ts";
import { colour } from "../../ui/palette.ts";
import { firstWhere } from "../../core/first_where.ts";
import { sidesOf, type Details } from "../../core/measured/run_details.ts";
import { arrives, inbox, longestFlight, messagesOf, type Messages } from "../../core/timeline/message_flow.ts";
import type { Lane, Scene } from "../../data/lanes.ts";
import type { Row } from "../../core/timeline/layout.ts";
import type { Trace } from "../trace.ts";

type Ctx = CanvasRenderingContext2D;
/**
 * A rank's messages of one direction: indices lo to hi in a list, ascending by when they begin; the message at each,
 * when it begins and ends, and no more than how long any lasts.
 */
type MessageSide = {
  all: Messages;
  lo: number;
  hi: number;
  at: (index: number) => number;
  begin: (index: number) => number;
  end: (index: number) => number;
  longest: number;
};

const TICK = 2; // px
const APART = 4; // px from which on messages are drawn one by one
const LINED = 8; // px of a lane of messages from which on their ways are drawn
const ROOM = 16; // px of the plot's width for each message whose path is drawn
const FAINT = 0.6; // over ops
const TOLERANCE = 5; // px beside a message that still count as on it

function sideOf(lane: Lane, rank: number, sends: boolean): MessageSide {
  if (lane.details) return measuredSide(lane, lane.details, rank, sends);
  const { schedule, times, costs } = lane;
  const all = messagesOf(schedule);
  const list = sends ? null : inbox(schedule, times);
  const at = (index: number) => (list ? list.list[index] : index);
  const { offsets } = list ?? all;
  return {
    all,
    lo: offsets[rank],
    hi: offsets[rank + 1],
    at,
    begin: (index) => times.end[all.giver[at(index)]],
    end: (index) => arrives(all, times, costs, at(index)),
    longest: longestFlight(schedule, times, costs),
  };
}

function measuredSide({ schedule, noted }: Lane, details: Details, rank: number, sends: boolean): MessageSide {
  const { list, offsets, begin, end, longest } = sidesOf(schedule, details)[sends ? "sent" : "received"];
  const unit = (noted?.unit || 1) * 1e6; // ns
  return {
    all: messagesOf(schedule),
    lo: offsets[rank],
    hi: offsets[rank + 1],
    at: (index) => list[index],
    begin: (index) => begin(list[index]) / unit,
    end: (index) => end(list[index]) / unit,
    longest: longest / unit,
  };
}

/** Those of a side that show in [t0, t1]. */
function shown({ lo, hi, begin, longest }: MessageSide, t0: number, t1: number) {
  const from = firstWhere(lo, hi, (index) => begin(index) >= t0 - longest);
  return [from, firstWhere(from, hi, (index) => begin(index) >= t1)];
}

const laneBoxOf = (row: Row, sends: boolean) => {
  const tall = Math.max(1, Math.floor((row.commH - 2) / 2));
  return { y: row.commY + 1 + (sends ? 0 : tall + Number(row.commH > 6)), h: tall };
};

/** height: of the plot. */
export function drawMessages(scene: Scene, ctx: Ctx, height: number) {
  const left = scene.layout.plotLeft;
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, 0, scene.layout.plotWidth, height);
  ctx.clip();
  scene.lanes.forEach((lane, at) => {
    if (scene.layout.groups[at].rows[0]?.commH) lane.want?.();
    for (const row of scene.layout.groups[at].rows) {
      if (!row.commH || row.commY > height || row.commY + row.commH < 0) continue;
      for (const sends of [true, false]) drawSide(scene, ctx, lane, row, sends);
    }
    drawPaths(scene, ctx, lane, scene.layout.groups[at].rows);
  });
  ctx.restore();
}

/**
 * The ways of a run's messages, where those in sight are few enough to be followed by eye: from where each was posted
 * to where it was taken.
 */
function drawPaths(scene: Scene, ctx: Ctx, lane: Lane, rows: Row[]) {
  const { details } = lane;
  if (!details || rows.length < 2 || rows[0].commH < LINED) return;
  const seen = rows.map(({ rank }) => {
    const side = measuredSide(lane, details, rank, true);
    return { side, span: shown(side, scene.t0, scene.t1) };
  });
  if (seen.reduce((sum, { span: [lo, hi] }) => sum + hi - lo, 0) > scene.layout.plotWidth / ROOM) return;
  ctx.strokeStyle = colour("k-c");
  ctx.lineWidth = 1;
  ctx.globalAlpha = FAINT;
  ctx.beginPath();
  for (const {
    side,
    span: [lo, hi],
  } of seen) {
    for (let index = lo; index < hi; index++) {
      const path = endsOf(scene, lane, details, side.at(index));
      if (!path) continue;
      ctx.moveTo(path.from.x, path.from.y + path.from.h / 2);
      ctx.lineTo(path.to.x, path.to.y + path.to.h / 2);
    }
  }
  ctx.stroke();
  ctx.globalAlpha = 1;
}

function drawSide(scene: Scene, ctx: Ctx, lane: Lane, row: Row, sends: boolean) {
  const side = sideOf(lane, row.rank, sends);
  const { all, at } = side;
  const { y, h } = laneBoxOf(row, sends);
  const [lo, hi] = shown(side, scene.t0, scene.t1);
  const hollow = h >= 4;
  const dense = hi - lo > scene.layout.plotWidth;
  let [from, to] = [NaN, NaN]; // a run of messages too close to tell apart
  ctx.fillStyle = colour("plot-row");
  const end = Math.min(xOf(scene, lane.end), scene.layout.plotLeft + scene.layout.plotWidth);
  if (h > 1)
    ctx.fillRect(
      Math.max(xOf(scene, 0), scene.layout.plotLeft),
      y,
      Math.max(0, end - Math.max(xOf(scene, 0), scene.layout.plotLeft)),
      h,
    );
  ctx.fillStyle = colour("k-c");
  for (let index = lo; index < hi; index++) {
    const message = at(index);
    const x0 = xOf(scene, side.begin(index));
    if (!Number.isFinite(x0)) break; // of a live run, not sent yet
    const x1 = Math.max(x0 + TICK, xOf(scene, side.end(index)));
    if (x1 - x0 < APART && x0 <= to + 0.5) {
      to = Math.max(to, x1);
      // On to the last one that touches what is drawn already: the cost goes with the pixels, not with the messages.
      if (dense) {
        const beyond = timeAt(scene, to + 0.5);
        index = Math.max(index, firstWhere(index, hi, (other) => side.begin(other) >= beyond) - 2);
      }
      continue;
    }
    if (to > from) ctx.fillRect(from, y, to - from, h);
    [from, to] = x1 - x0 < APART ? [x0, x1] : [NaN, NaN];
    if (x1 - x0 < APART) continue;
    const wide = Math.max(1, x1 - x0 - 1);
    ctx.fillRect(x0, y, wide, h);
    if (!hollow || !all.gradient[message] || wide < APART) continue;
    ctx.fillStyle = colour("plot-row");
    ctx.fillRect(x0 + 1.5, y + 1.5, wide - 3, h - 3);
    ctx.fillStyle = colour("k-c");
  }
  if (to > from) ctx.fillRect(from, y, to - from, h);
}

/** The message under a point of a lane of messages. */
export function messageAt(scene: Scene, lane: Lane, rank: number, x: number, y: number): Trace | null {
  const row = rowOf(scene, lane.id, rank);
  if (!row) return null;
  const side = sideOf(lane, rank, y < row.commY + row.commH / 2);
  const [t0, t1] = [timeAt(scene, x - TOLERANCE), timeAt(scene, x + TOLERANCE)];
  const [lo, hi] = shown(side, t0, t1);
  const t = timeAt(scene, x);
  let best = -1;
  let least = Infinity;
  for (let index = lo; index < hi; index++) {
    const away = Math.max(0, side.begin(index) - t, t - side.end(index));
    if (away > least || t0 > side.end(index)) continue;
    least = away;
    best = side.at(index);
  }
  return best < 0 ? null : { lane, op: null, needs: [], frees: [], idle: null, step: null, rank, message: best };
}

/** Where a measured message left its sender and came to its receiver, in their lanes of messages. */
function endsOf(
  scene: Scene,
  { id, schedule, noted }: Lane,
  { posted, taken }: Details,
  message: number,
): { from: Box; to: Box } | null {
  const { from, to } = messagesOf(schedule);
  const [sender, receiver] = [from[message], to[message]].map((rank) => rowOf(scene, id, rank));
  const unit = (noted?.unit || 1) * 1e6; // ns
  if (!sender?.commH || !receiver?.commH || Number.isNaN(taken[message])) return null;
  return {
    from: { x: xOf(scene, posted[message] / unit), w: 0, ...laneBoxOf(sender, true) },
    to: { x: xOf(scene, taken[message] / unit), w: 0, ...laneBoxOf(receiver, false) },
  };
}

/** The same, null where one end is out of sight, or the message was not measured. */
export function messagePath(scene: Scene, lane: Lane, message: number) {
  const ends = lane.details ? endsOf(scene, lane, lane.details, message) : null;
  const { plotLeft, plotWidth } = scene.layout;
  return ends && ends.from.x >= plotLeft && ends.to.x <= plotLeft + plotWidth ? ends : null;
}
