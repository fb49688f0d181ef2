// A worker of its own: bins a large schedule finely and coarsely (core/timeline/pyramid.js) while the page goes on
// drawing.
import { buildPyramid } from "./core/timeline/pyramid.js";

/**
 * @typedef {{rows: import("./core/timeline/layout.js").Rows, times: import("./core/schedule/types.js").Times, total:
 *   number}} Job
 */

addEventListener("message", (/** @type {MessageEvent<Job>} */ { data: { rows, times, total } }) => {
  const pyramid = buildPyramid(rows, times, total);
  postMessage(pyramid, { transfer: pyramid.levels.flatMap(({ cover, cls }) => [cover.buffer, cls.buffer]) });
});
