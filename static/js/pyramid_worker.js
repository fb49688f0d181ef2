// A worker of its own: bins a large schedule finely and coarsely (pure/pyramid.js) while the page goes on drawing.
import { buildPyramid } from "./pure/pyramid.js";

/** @typedef {{rows: import("./pure/layout.js").Rows, times: import("./pure/types.js").Times, total: number}} Job */

addEventListener("message", (/** @type {MessageEvent<Job>} */ { data: { rows, times, total } }) => {
  const pyramid = buildPyramid(rows, times, total);
  postMessage(pyramid, { transfer: pyramid.levels.flatMap(({ cover, cls }) => [cover.buffer, cls.buffer]) });
});
