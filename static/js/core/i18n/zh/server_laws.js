// What the families say of themselves: summaries, sources, users, laws and where they are exact.

/** @type {import("../language.js").Catalogue} */
export const LAWS = {
  // groups, backward, placement
  classic: "经典",
  interleaved: "交错式",
  "zero bubble": "零气泡",
  bidirectional: "双向",
  memory: "显存",
  full: "完整",
  split: "拆分",
  both: "两者兼有",
  looped: "循环",

  // complexity

  // sources

  // who uses it

  // a title that is no name

  // summaries

  // where laws are exact, and why not

  // what options do
};
