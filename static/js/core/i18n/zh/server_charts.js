// Charts: axes, legends, what a point tells, and how to read them.

/** @type {import("../language.js").Catalogue} */
export const CHARTS = {
  // names of what is drawn
  bubble: "气泡",
  global: "全局",
  span: "跨度",
  ideal: "理想",
  makespan: "总时长",
  time: "时间",
  share: "占比",
  schedule: "调度",
  devices: "设备数",
  messages: "消息数",
  throughput: "吞吐量",
  limit: "上限",
  lines: "折线",
  models: "模型",
  model: "模型",
  machine: "机器",
  hidden: "隐藏维度",
  layers: "层数",
  vocabulary: "词表",
  group: "组",
  fill: "填充",
  drain: "排空",
  hop: "跳",
  copy: "拷贝",
  wait: "等待",

  // bubble

  // memory

  // messages

  // offload

  // memory against throughput

  // useful against wasted

  // vocabulary
};
