// Messages of the server by their codes: orders, specs, options, families, searches and laws.

/** @type {import("../language.js").Catalogue} */
export const SCHEDULE_MESSAGES = {
  "schedule.not_an_order": "这些字节不是编码的执行顺序，或缺了一部分",
  "schedule.packed_order_broken": "这段文本不是打包的执行顺序，或缺了一部分",
  "schedule.too_many_ops_to_pack": "该执行顺序有 {ops} 个 op；spec 最多容纳 {most} 个",
};
