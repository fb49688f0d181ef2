// What is wrong with a request: specs, options, sizes, addresses, links, imports.

/** @type {import("../language.js").Catalogue} */
export const ERRORS = {
  // values
  "{1} must be true or false": "{1!} 必须是 true 或 false",
  "{1} is not a number that JSON has": "{1!} 不是 JSON 中的数",
  "{1}(about 2^{2})": "{1}（约 2^{2}）",
  costs: "代价（costs）",

  // families and options
  "not part of a formula: {1}": "不能用于公式：{1!}",

  // addresses and bodies
  "frame too large": "帧过大",

  // short links
};
