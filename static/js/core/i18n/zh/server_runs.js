// Runs: the queue, the runner and its workers, and what a run can fail by.

/** @type {import("../language.js").Catalogue} */
export const RUNS = {
  // the queue and the store

  // the runner's process

  // before a run starts

  // messages that do not match

  // what it runs on

  // what came of it
  "the socket is closed": "连接已关闭",

  // while it runs
};
