// Orders that cannot run, and files that cannot be read: torch's CSV, traces; and the kinds of ops.

/** @type {import("../language.js").Catalogue} */
export const ORDERS = {
  // kinds
  offload: "卸载",
  reload: "取回",

  // the first violation

  // torch's CSV
  "csv is the text of torch's CSV: one line a rank, such as 0F0,0F1,0B0,0B1":
    "csv 是 torch 的 CSV 文本：每个 rank 一行，例如 0F0,0F1,0B0,0B1",

  // traces
  "rank {1} copies": "rank {1} 的拷贝",
  activation: "激活值",
  gradient: "梯度",
  stage: "阶段",
  "a step of {1} ms is over {2} ms: are its times in us?": "一个训练步 {1} ms，超过 {2} ms：时间单位是否为微秒？",
  "{1} ops of {2} rank{3} were found": "找到 {2} 个 rank 的 {1} 个 op",
  "the trace is not a whole step: {1} ({2})": "trace 不是一个完整的训练步：{1}（{2}）",
  'the body is a Chrome trace, or {"traces": [...]} with one for each rank':
    '请求体应为一个 Chrome trace，或 {"traces": [...]}，每个 rank 一个',
  "The trace is not JSON: {1}": "trace 不是 JSON：{1!}",
  "The body begins like gzip and is not: {1}": "请求体开头像 gzip，但并不是：{1!}",
  "The gzipped body {1}.": "gzip 压缩的请求体{1}。",
  "is cut off": "不完整",
  "is over {1} MB when unpacked": "解压后超过 {1} MB",
  "{1} imported runs an hour are enough; try again later": "每小时最多导入 {1} 次运行；请稍后再试",
};
