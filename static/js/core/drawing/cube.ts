// A schedule in space: time to the right, stages into the depth (the first one farthest, as it is the uppermost row of
// the timeline), micro-batches upward. Every op is a box, every message between ranks a dot.
//
// Seen without perspective, boxes that planes parallel to the axes divide are painted right if they come by depth, then
// by height, then by time: what is behind such a plane cannot cover what is before it.

import { messagesOf } from "../timeline/message_flow.ts";
import { KIND_B, KIND_F, KIND_PAIR, chunkOf, globalMicro, kindOf, micros, pairChunks } from "../schedule/ops.ts";
import type { Schedule, Times } from "../schedule/types.ts";

/** Of a pair each half is one. */
export type Box = {
  i: number; // the op's flat index
  rank: number;
  kind: number;
  chunk: number;
  stage: number;
  micro: number;
  start: number;
  end: number;
};
/** A message: from a stage to a goal, sent and there. */
export type Dot = { stage: number; goal: number; micro: number; sent: number; due: number };
type Idle = { stage: number; start: number; end: number };
export type Cube = {
  boxes: Box[];
  dots: Dot[];
  idle: Idle[];
  stages: number;
  /** those that are in it, all: those of the schedule, one after the other over both directions where there are two */
  micros: number;
  all: number;
  total: number;
  ops: number; // of the schedule
};
/** In radians: around the upright axis, and from above. */
export type View = { turn: number; tilt: number };
export type Point = [number, number];
type Side = { face: "front" | "top" | "side"; points: Point[] };

export const MOST_OPS = 2400; // that remain distinguishable and are drawn within a frame
const WIDE = { least: 1.2, most: 3.2, of: 1.25 }; // time's edge to the stages': longer in a wide picture
const DEEP = 1;
const TALL = 0.9;
const FILL = 0.82; // of its cell that a box fills
export const PLAIN = { turn: 0.42, tilt: 0.5 };
const MOST = { turn: 1.35, least: 0.08, tilt: 1.4 };

/** How many micro-batches of each direction may be drawn, 0 where not even one can. */
export function roomFor({ count, n }: Schedule) {
  return Math.min(n, Math.floor(MOST_OPS / Math.max(1, count / n)));
}

/** The first micro-batches of a schedule, as many as there is room for. hop: how long a message is in flight. */
export function cubeOf(schedule: Schedule, times: Times, hop: number): Cube {
  const room = roomFor(schedule);
  const { placement, n } = schedule;
  const boxes = [];
  for (let rank = 0; rank < schedule.p; rank++) {
    for (let i = schedule.offsets[rank]; i < schedule.offsets[rank + 1]; i++)
      boxes.push(...boxesOf(schedule, times, rank, i, room));
  }
  return {
    boxes,
    dots: room ? dotsOf(schedule, times, hop, room) : [],
    idle: idleOf(schedule, times),
    stages: placement.stages,
    micros: room * placement.streams,
    all: n * placement.streams,
    total: times.makespan,
    ops: schedule.count,
  };
}

function boxesOf(schedule: Schedule, times: Times, rank: number, i: number, room: number): Box[] {
  const { chunks, codes, placement } = schedule;
  const { first, second } = micros(schedule);
  const kind = kindOf(codes[i], chunks);
  const box = (of: number, chunk: number, k: number): Box[] =>
    k >= room
      ? []
      : [
          {
            i,
            rank,
            kind: of,
            chunk,
            stage: placement.stage[rank * chunks + chunk],
            micro: upward(schedule, rank * chunks + chunk, k, room),
            start: times.start[i],
            end: times.end[i],
          },
        ];
  if (kind !== KIND_PAIR) return box(kind, chunkOf(codes[i], chunks), first[i]);
  const [f, b] = pairChunks(codes[i], chunks);
  return [...box(KIND_F, f, first[i]), ...box(KIND_B, b, second ? second[i] : first[i])];
}

/** The height of a micro-batch: those of the second direction stand on those of the first. */
const upward = ({ placement }: Schedule, slot: number, k: number, room: number) => placement.stream[slot] * room + k;

function dotsOf(schedule: Schedule, times: Times, hop: number, room: number): Dot[] {
  const { chunks, codes, placement, n } = schedule;
  const { first, second } = micros(schedule);
  const { giver, from, by, gradient, count } = messagesOf(schedule);
  const dots = [];
  for (let at = 0; at < count; at++) {
    const i = giver[at];
    const pair = kindOf(codes[i], chunks) === KIND_PAIR;
    const chunk = pair ? pairChunks(codes[i], chunks)[gradient[at]] : chunkOf(codes[i], chunks);
    const k = pair && gradient[at] && second ? second[i] : first[i];
    const slot = from[at] * chunks + chunk;
    const next = (gradient[at] ? placement.prev : placement.next)[slot];
    // a broadcast to the output layer's shards has no next stage
    if (k < 0 || k >= Math.min(room, n) || next < 0) continue;
    dots.push({
      stage: placement.stage[slot],
      goal: placement.stage[next],
      micro: upward(schedule, slot, k, room),
      sent: times.end[i],
      due: times.end[by[at]] + hop, // on a stream it may have to wait
    });
  }
  return dots;
}

/** When each stage's device does nothing, from the first op of the step to the last. */
function idleOf({ p, chunks, offsets, placement }: Schedule, times: Times): Idle[] {
  const idle: Idle[] = [];
  for (let rank = 0; rank < p; rank++) {
    let free = 0;
    for (let i = offsets[rank]; i <= offsets[rank + 1]; i++) {
      const start = i < offsets[rank + 1] ? times.start[i] : times.makespan;
      if (start > free)
        for (let chunk = 0; chunk < chunks; chunk++)
          idle.push({ stage: placement.stage[rank * chunks + chunk], start: free, end: start });
      free = times.end[i];
    }
  }
  return idle;
}

/** A stretch of idle time on the floor. */
export const floorOf = (project: Project, { stage, start, end }: Idle): Point[] => {
  const gap = (1 - FILL) / 2;
  return [
    project(start, stage + gap, 0),
    project(end, stage + gap, 0),
    project(end, stage + 1 - gap, 0),
    project(start, stage + 1 - gap, 0),
  ];
};

/** The micro-batch's number in the schedule, as op texts have it. */
export function microNumber(schedule: Schedule, { rank, chunk, micro }: Box) {
  const slot = rank * schedule.chunks + chunk;
  return globalMicro(schedule, slot, micro - schedule.placement.stream[slot] * roomFor(schedule));
}

/** Returns rotated further, as far as its sides stay visible. */
export const turned = (view: View, turn: number, tilt: number): View => ({
  turn: Math.min(MOST.turn, Math.max(-MOST.turn, view.turn + turn)),
  tilt: Math.min(MOST.tilt, Math.max(MOST.least, view.tilt + tilt)),
});

/** From the cube to pixels: the whole of it within a picture, whichever way it is turned. */
export function projection(
  { stages, micros: layers, total }: Cube,
  { turn, tilt }: View,
  width: number,
  height: number,
  pad: number, // px around
) {
  const wide = Math.min(WIDE.most, Math.max(WIDE.least, (WIDE.of * width) / height));
  const [cos, sin, up, over] = [Math.cos(turn), Math.sin(turn), Math.cos(tilt), Math.sin(tilt)];
  /** z: of the unit cube. */
  const flat = (x: number, y: number, z: number): Point => {
    const [a, b] = [(x - 0.5) * wide, (y - 0.5) * DEEP];
    return [a * cos + b * sin, -((z - 0.5) * TALL * up + (b * cos - a * sin) * over)];
  };
  const corners = [0, 1].flatMap((x) => [0, 1].flatMap((y) => [0, 1].map((z) => flat(x, y, z))));
  const [right, low] = [0, 1].map((axis) => Math.max(...corners.map((corner) => corner[axis])));
  const scale = Math.min((width / 2 - pad) / right, (height / 2 - pad) / low);
  /** stage: its lower edge; micro: its lower edge. */
  return (time: number, stage: number, micro: number): Point => {
    const [x, y] = flat(time / total, 1 - stage / stages, micro / layers);
    return [width / 2 + x * scale, height / 2 + y * scale];
  };
}

export type Project = ReturnType<typeof projection>;

/** What is painted, in an order in which what comes later covers what came before. */
export function paintOrder({ boxes, dots }: Cube, { turn }: View): (Box | Dot)[] {
  const right = turn >= 0 ? 1 : -1;
  const depth = (item: Box | Dot) => ("goal" in item ? (item.stage + item.goal) / 2 : item.stage);
  const time = (item: Box | Dot) => ("goal" in item ? item.sent : item.start);
  return [...boxes, ...dots].sort((a, b) => depth(a) - depth(b) || a.micro - b.micro || right * (time(a) - time(b)));
}

/** The sides of a box that are seen, as far as time has come. */
export function sidesOf(project: Project, { turn }: View, { stage, micro, start, end }: Box, until: number): Side[] {
  const gap = (1 - FILL) / 2;
  const [far, near, low, high] = [stage + gap, stage + 1 - gap, micro + gap, micro + 1 - gap];
  const last = Math.min(end, until);
  const x = turn >= 0 ? last : start;
  return [
    {
      face: "side",
      points: [project(x, far, low), project(x, near, low), project(x, near, high), project(x, far, high)],
    },
    {
      face: "top",
      points: [
        project(start, far, high),
        project(last, far, high),
        project(last, near, high),
        project(start, near, high),
      ],
    },
    {
      face: "front",
      points: [
        project(start, near, low),
        project(last, near, low),
        project(last, near, high),
        project(start, near, high),
      ],
    },
  ];
}

/** Where a message is: halfway when nothing moves, else as far as it has come; null where it is not on its way. */
export function dotAt(
  project: Project,
  { stage, goal, micro, sent, due }: Dot,
  at: number | null,
  least: number, // how long one is seen at least
): Point | null {
  const until = Math.max(due, sent + least);
  if (at !== null && (at < sent || at > until)) return null;
  const part = at === null ? 0.5 : (at - sent) / (until - sent);
  const when = at === null ? (sent + due) / 2 : at;
  return project(when, stage + 0.5 + (goal - stage) * part, micro + 0.5);
}

/** The plane of a moment. */
export const planeAt = (project: Project, { stages, micros: layers }: Cube, at: number): Point[] => [
  project(at, 0, 0),
  project(at, stages, 0),
  project(at, stages, layers),
  project(at, 0, layers),
];

/** Does a side cover a pixel? */
export function covers({ points }: Side, x: number, y: number) {
  let [more, less] = [false, false];
  for (let k = 0; k < points.length; k++) {
    const [ax, ay] = points[k];
    const [bx, by] = points[(k + 1) % points.length];
    const turn = (bx - ax) * (y - ay) - (by - ay) * (x - ax);
    more ||= turn > 0;
    less ||= turn < 0;
  }
  return !(more && less);
}
