// Models, machines, and the arithmetic of what they cost.

/** @type {import("../language.js").Catalogue} */
export const COSTS = {
  // counting
  bytes: "字节",
  parameters: "参数",

  // memory

  // options

  // models

  // machines
};
