// The one animation-frame loop. Parts ask for a stage of the next frame; stages run in a fixed order, each at most once
// a frame.

type Stage = "plan" | "figures" | "base" | "overlay" | "minimap";

const ORDER: Stage[] = ["plan", "base", "overlay", "figures", "minimap"];
const tasks = new Map<Stage, ((now: number) => void)[]>();
const wanted = new Set<Stage>();
const tickers = new Set<(now: number) => void>();
const painted: ((now: number) => void)[] = [];
const LIMIT = 4096;
const drawings: number[] = []; // ms
let asked = 0;
let drawn = false; // the stages ran since the last frame already

/** Add a task to a stage; tasks run in the order of adding. */
export function onStage(stage: Stage, task: (now: number) => void) {
  tasks.set(stage, [...(tasks.get(stage) ?? []), task]);
}

/** Ask for stages in the next frame. */
export function invalidate(...stages: Stage[]) {
  for (const stage of stages) wanted.add(stage);
  ask();
}

/** Call `tick` before the stages of every frame until stopped (playback, live runs). */
export function startTicking(tick: (now: number) => void) {
  tickers.add(tick);
  ask();
}

export function stopTicking(tick: (now: number) => void) {
  tickers.delete(tick);
}

/** Call once the coming frame is on the screen. */
export function afterPaint(task: (now: number) => void) {
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

function runStages(now: number) {
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

function run(now: number) {
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
