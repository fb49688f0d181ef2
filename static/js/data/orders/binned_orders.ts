// Bins large schedules in a worker, one after the other, and keeps the pyramids by their times. Until one is there, and
// where there are no workers (a stand-alone file), ops are binned as they are drawn: slower, and the same picture.

import { hasServer } from "../../ui/dom.ts";
import type { Lane } from "../lanes.ts";
import type { Pyramid } from "../../core/timeline/pyramid.ts";
import type { Times } from "../../core/schedule/types.ts";

const DIRECT = 300_000; // ops; up to this many are binned within a frame, as they are drawn
/** Visible ops from which a pyramid, where there is one, is faster. */
export const QUICKER = 100_000;
const SOURCE = "/static/vendor/app/js/pyramid_worker.js";

const made = new WeakMap<Times, Pyramid>();
let worker: Worker | null = null;
let waiting: Lane[] = [];
let broken = !hasServer; // a disk gives no workers

/** The pyramid of these times, null where there is none. */
export const pyramidOf = (times: Times) => made.get(times) ?? null;

/**
 * Bin these lanes in the worker, where together they are too large to be binned in a frame. Replaces earlier requests
 * that have not begun.
 */
export function preparePyramids(lanes: Lane[]) {
  const planned = lanes.filter((lane) => !lane.live);
  const ops = planned.reduce((sum, lane) => sum + lane.schedule.count, 0);
  waiting = broken || ops <= DIRECT ? [] : planned.filter((lane) => !made.has(lane.times));
  if (!worker) next();
}

function next() {
  const lane = waiting.shift();
  if (!lane) {
    worker?.terminate(); // and with it goes what it was sent
    worker = null;
    return;
  }
  const { schedule, times, end } = lane;
  const { count, offsets, codes, chunks } = schedule;
  // Copies: the page times its next order into the same arrays.
  const sent = { start: times.start.slice(0, count), end: times.end.slice(0, count), makespan: times.makespan };
  const here = open();
  if (!here) return;
  here.onmessage = ({ data }) => {
    made.set(times, data);
    next();
  };
  here.postMessage({ rows: { codes, offsets, chunks }, times: sent, total: end }, [sent.start.buffer, sent.end.buffer]);
}

function open() {
  if (worker) return worker;
  try {
    worker = new Worker(SOURCE, { type: "module" });
    worker.onerror = fail;
  } catch {
    fail();
  }
  return worker;
}

function fail() {
  broken = true;
  waiting = [];
  worker?.terminate();
  worker = null;
}
