// The cluster that runs are on: its hosts, its links, and which rank sits where.

/** @type {import("../language.js").Catalogue} */
export const CLUSTER = {
  // cluster_panel.js, core/measured/cluster.js
  Cluster: "集群",
  "Address of the cluster": "集群地址",
  "The cluster is lost: {why}": "集群已失联：{why}",
  "The connection to the server is lost: this is the last known state.": "与服务器的连接已断开：此处是最后已知的状态。",
  "Waiting: {what}": "等待中：{what}",
  "The runner is joining the cluster.": "runner 正在加入集群。",
  "Hops between neighbouring ranks: {range}": "相邻 rank 之间的跳：{range}",
  "{n} of {all} hosts": "{all} 台主机中的 {n} 台",
  "{free} of {total} cores free": "{total} 个核中 {free} 个空闲",
  "{free} of {total} GPUs free": "{total} 块 GPU 中 {free} 块空闲",
  host: "主机",
  "CPU cores": "CPU 核",
  "Hosts of the cluster, their use, and the ranks of the present or last run":
    "集群的主机、其占用情况，以及当前或上一次运行的 rank",
  "{bytes} free": "{bytes} 空闲",
  "{bytes} of memory in total": "内存共 {bytes}",
  head: "头节点",
  lost: "已失联",
  "{busy} of {total} in use": "{total} 个中占用 {busy} 个",
  "{total} free": "{total} 个空闲",
  ["One way: half of the fastest round trip of a small message; in brackets, how much longer half of the " +
  "median one took"]: "单程：小消息最快往返时间的一半；括号内为往返时间中位数的一半比它多出的部分",
  "within {host}": "{host} 之内",
  "{least} to {most} µs": "{least} 到 {most} µs",
  // core/measured/devices.js
  "On a cluster every rank has a GPU of its own; there are {gpus} for {p} ranks.":
    "在集群上每个 rank 独占一块 GPU；{p} 个 rank 只有 {gpus} 块。",
  // hosts.js, card.js, pointer.js
  "{n} hosts": "{n} 台主机",
  "Ranks on hosts": "各主机上的 rank",
  "Hops between neighbours": "相邻 rank 之间的跳",
  "the plan's hop is the longest, {n}": "计划的跳取最长者，{n}",
  "Clocks agree within": "时钟误差不超过",
  ", host {host}": "，主机 {host}",
  "Rank {rank} on {host}": "rank {rank} 在 {host} 上",
  // panel.js, after.js
  "The run waits for a place on the cluster.": "运行正在等待集群中的位置。",
  "Sets the plan's hop to the longest one measured between neighbours: {n}":
    "把计划的跳设为相邻 rank 之间实测最长的跳：{n}",
  "Use measured hop time": "采用实测跳时间",
  // options.js
  Placement: "放置",
  "pack: few hosts": "集中：少数主机",
  "spread: many hosts": "分散：多台主机",
  "Ranks on as few hosts as possible, or on as many": "rank 放在尽量少的主机上，或尽量多的主机上",
  "Rank order": "rank 次序",
  "in the order of hosts": "按主机次序",
  "by latency": "按延迟",
  "Ranks in the order of the hosts, or with neighbours in the pipeline where messages are fastest":
    "rank 按主机的次序，或使流水线中的相邻者之间消息最快",
  "Hop time": "跳时间",
  "as in the costs": "按代价",
  "as measured": "按实测",
  "Hops of the plan as in the costs, or as the longest one measured between neighbours before the run":
    "计划的跳按代价，或取运行前在相邻 rank 之间实测最长的跳",
  "A free run has no pace, so a hop has no length in its costs": "自由运行没有节拍，因此跳无法换算成其代价的单位",
};
