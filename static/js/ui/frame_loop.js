// The one animation-frame loop. Parts ask for a stage of the next frame; stages run in a fixed order, each at most once
// a frame.

/** @typedef {"plan" | "figures" | "base" | "overlay" | "minimap"} Stage */

/** @type {Stage[]} */
const ORDER = ["plan", "base", "overlay", "figures", "minimap"];
/** @type {Map<Stage, ((now: number) => void)[]>} */
const tasks = new Map();
/** @type {Set<Stage>} */
const wanted = new Set();
/** @type {Set<(now: number) => void>} */
const tickers = new Set();
/** @type {((now: number) => void)[]} */
const painted = [];
const LIMIT = 4096;
/** @type {number[]} */
const drawings = []; // ms
let asked = 0;
let drawn = false; // the stages ran since the last frame already

/** Add a task to a stage; tasks run in the order of adding. @param {Stage} stage @param {(now: number) => void} task */
export function onStage(stage, task) {
  tasks.set(stage, [...(tasks.get(stage) ?? []), task]);
}

/** Ask for stages in the next frame. @param {...Stage} stages */
export function invalidate(...stages) {
  for (const stage of stages) wanted.add(stage);
  ask();
}

/**
 * Call `tick` before the stages of every frame until stopped (playback, live runs).
 * @param {(now: number) => void} tick
 */
export function startTicking(tick) {
  tickers.add(tick);
  ask();
}

/** @param {(now: number) => void} tick */
export function stopTicking(tick) {
  tickers.delete(tick);
}

/** Call once the coming frame is on the screen. @param {(now: number) => void} task */
export function afterPaint(task) {
  painted.push(task);
  ask();
}

function ask() {
  if (!asked) asked = requestAnimationFrame(run);
}

/** Draw at once instead of in the coming frame, which then only has to show it: an input between two frames would
 * otherwise wait for the frame and for the drawing. At most once a frame. */
export function drawNow() {
  if (drawn || !wanted.size) return;
  drawn = true;
  runStages(performance.now());
  ask();
}

/** @param {number} now */
function runStages(now) {
  const from = performance.now();
  let whole = false;
  for (const stage of ORDER) {
    if (!wanted.delete(stage)) continue;
    for (const task of tasks.get(stage) ?? []) task(now);
    whole ||= stage === "base";
  }
  if (whole && drawings.length < LIMIT) drawings.push(performance.now() - from);
}

/** How long the frames took whose ops were drawn, for bench and tests; those since the last call. */
export const drawTimes = () => drawings.splice(0);

/** @param {number} now */
function run(now) {
  asked = 0;
  drawn = false;
  for (const tick of tickers) tick(now);
  runStages(now);
  if (painted.length) channel.port2.postMessage(null);
  if (tickers.size || wanted.size) ask();
}

// A message posted inside an animation frame is delivered after that frame's layout and paint.
const channel = new MessageChannel();
channel.port1.onmessage = () => {
  const tasksNow = painted.splice(0);
  const now = performance.now();
  for (const task of tasksNow) task(now);
};
