// Runs: the queue, the runner and its workers, and what a run can fail by.

/** @type {import("../language.js").Catalogue} */
export const RUNS = {
  // the queue and the store
  "search takes one object with spec, seconds": "search 需要一个含有 spec、seconds 的对象",

  // what came of it
  "the socket is closed": "连接已关闭",
};
