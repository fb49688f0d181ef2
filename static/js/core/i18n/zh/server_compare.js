// Families side by side, what papers claim, building blocks, the frontier, and what is sought.

/** @type {import("../language.js").Catalogue} */
export const COMPARE = {
  // techniques

  // notes
  "{1} is left out: {2}.": "{1} 未列入：{2}。",

  // why a claim differs

  // as near as a family can be built
  none: "无",

  // building blocks
  chunks: "分块",
  "micro-batches": "微批次",

  // what is sought
  "{1} has one order; zb-auto and v-auto are sought": "{1} 只有一种执行顺序；可搜索的是 zb-auto 与 v-auto",
  "{1} has one order; a bound is for zb-auto and v-auto": "{1} 只有一种执行顺序；下界只对 zb-auto 与 v-auto 给出",
  "{1} searches wait already; try again soon": "已有 {1} 个搜索在等待；请稍后再试",
};
