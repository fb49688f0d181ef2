// Orders that cannot run, and files that cannot be read: torch's CSV, traces; and the kinds of ops.

/** @type {import("../language.js").Catalogue} */
export const ORDERS = {
  // kinds
  offload: "卸载",
  reload: "取回",

  // the first violation

  // torch's CSV

  // traces
  "rank {1} copies": "rank {1} 的拷贝",
  activation: "激活值",
  gradient: "梯度",
  stage: "阶段",
};
