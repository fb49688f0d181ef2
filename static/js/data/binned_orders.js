// Has large schedules binned in a worker, one after the other, and keeps what came of it beside their times. Until it
// is
// there, and where there are no workers (a saved page), ops are binned as they are drawn: slower, and the same picture.

/** @import {Lane} from "./lanes.js" */
/** @import {Rows} from "../core/timeline/layout.js" */
/** @import {Pyramid} from "../core/timeline/pyramid.js" */
/** @import {Times} from "../core/schedule/types.js" */
/** @typedef {{rows: Rows, times: Times, total: number}} Job */

const DIRECT = 300_000; // so many ops are binned within a frame, as they are drawn
/** Where there is a pyramid, it is quicker from so many ops in sight on. */
export const QUICKER = 100_000;
const SOURCE = "/static/js/pyramid_worker.js"; // by its own address, whether the page is bundled or not

/** @type {WeakMap<Times, Pyramid>} */
const made = new WeakMap();
/** @type {Worker | null} */
let worker = null;
/** @type {Lane[]} */
let waiting = [];
let broken = false;

/** What was binned before of these times. @param {Times} times */
export const pyramidOf = (times) => made.get(times) ?? null;

/**
 * Bin these lanes, where together they are too large to be binned in a frame. What was asked for before and has not
 * begun is forgotten.
 * @param {Lane[]} lanes
 */
export function preparePyramids(lanes) {
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
