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
};
