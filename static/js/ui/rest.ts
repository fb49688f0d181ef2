// Work that may wait until the reader rests: what is small or slow follows the drawn schedule a moment later.

const REST = 90; // ms
const LONGEST = 500; // ms of changes without a rest, as in a live run, after which the work is done anyway

const tasks: (() => void)[] = [];
let timer = 0;
let changing = 0; // since when, ms

/** Call a task each time a change has been drawn and no other follows. */
export function onRest(task: () => void) {
  tasks.push(task);
}

/** Run the tasks once nothing has changed for a moment. delay: ms. */
export function restSoon(delay: number = REST) {
  const now = performance.now();
  if (!timer) changing = now;
  else if (now - changing > LONGEST) return;
  clearTimeout(timer);
  timer = window.setTimeout(() => {
    timer = 0;
    for (const task of tasks) task();
  }, delay);
}
