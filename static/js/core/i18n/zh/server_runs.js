// Runs: the queue, the runner and its workers, and what a run can fail by.

/** @type {import("../language.js").Catalogue} */
export const RUNS = {
  // the queue and the store

  // the runner's process

  // before a run starts
  "unit_ms goes with paced mode; free mode has no pace": "unit_ms 只用于按节拍（paced）模式；自由（free）模式没有节拍",

  // messages that do not match

  // what it runs on
  "model name": "型号名称",
  "there is no GPU to run on": "此处没有可供运行的 GPU",

  // what came of it
  "the socket is closed": "连接已关闭",

  // while it runs
};
