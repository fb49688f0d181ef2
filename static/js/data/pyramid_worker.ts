// A worker of its own: bins a large schedule finely and coarsely (core/timeline/pyramid.ts) while the page goes on
// drawing.
import { buildPyramid } from "../core/timeline/pyramid.ts";
import type { Rows } from "../core/timeline/layout.ts";
import type { Times } from "../core/schedule/types.ts";

type Job = { rows: Rows; times: Times; total: number };

addEventListener("message", ({ data: { rows, times, total } }: MessageEvent<Job>) => {
  const pyramid = buildPyramid(rows, times, total);
  postMessage(pyramid, { transfer: pyramid.levels.flatMap(({ cover, cls }) => [cover.buffer, cls.buffer]) });
});
