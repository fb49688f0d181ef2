// How long the page takes: input event to painted frame, and a run's op from its end to the screen. Bounded, for bench
// and tests.
import { afterPaint, drawTimes } from "./frame_loop.ts";

const LIMIT = 4096;
const inputs: number[] = [];
const ops: number[] = [];
const waiting: number[] = [];
let firstPaint = 0;

function keep(list: number[], value: number) {
  if (list.length < LIMIT) list.push(value);
}

/** An input event asked for another schedule. */
export function inputHappened(event: Event) {
  waiting.push(event.timeStamp);
}

/** The frame now being drawn shows what the inputs so far asked for. */
export function schedulePainted() {
  if (!firstPaint)
    afterPaint((now) => {
      firstPaint = firstPaint || now;
    });
  if (!waiting.length) return;
  const these = waiting.splice(0);
  afterPaint((now) => {
    for (const at of these) keep(inputs, now - at);
  });
}

/** Ops of a run are in the frame now being drawn; each ended at this wall-clock time (ms). */
export function opsPainted(ends: number[]) {
  afterPaint(() => {
    const now = Date.now();
    for (const end of ends) keep(ops, now - end);
  });
}

export const samples = {
  inputs: () => inputs.slice(),
  ops: () => ops.slice(),
  firstPaint: () => firstPaint,
  draws: drawTimes,
  clear: () => {
    inputs.length = 0;
    ops.length = 0;
    waiting.length = 0;
  },
};
