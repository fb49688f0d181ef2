// Families side by side, what papers claim, building blocks, the frontier, and what is sought.

/** @type {import("../language.js").Catalogue} */
export const COMPARE = {
  // techniques
  "all forwards, then all backwards": "先全部前向，再全部反向",
  "a backward as soon as it can run": "反向可以执行时立即执行",
  "1F1B without a flush, weights stashed": "不冲刷的 1F1B，暂存权重版本",
  "v chunks per device": "每个设备 v 个分块",
  "v chunks per device, one after the other": "每个设备 v 个分块，依次执行",
  "v chunks per device, backward split": "每个设备 v 个分块，拆分反向",
  "backward split, W delayed into the cool-down": "拆分反向，W 推迟到冷却阶段",
  "backward split, twice the warm-up": "拆分反向，预热加倍",
  "backward split, order searched under a memory limit": "拆分反向，在显存上限内搜索执行顺序",
  "building block on a V, least memory": "V 形上的构件，显存最少",
  "building block on a V, half the memory": "V 形上的构件，一半显存",
  "backward split on a V, chunks in turn": "V 形上拆分反向，分块轮流执行",
  "V, order searched under a memory limit": "V 形，在显存上限内搜索执行顺序",
  "v chunks per device, short warm-up": "每个设备 v 个分块，预热较短",
  "v chunks per device, half groups": "每个设备 v 个分块，半组",
  "two directions, forward and backward overlapped": "双向，前向与反向重叠",
  "DualPipe folded into a V": "折成 V 形的 DualPipe",

  // notes
  "one copy of the device's own layers": "本设备各层的参数一份",
  "two copies: each device holds a stage of both replicas, one a direction":
    "两份：每个设备持有两个副本各一个阶段，每个方向一个",
  "a version for every micro-batch in flight, which keeps the weights it began with: p - s on stage s":
    "每个在途微批次一个版本，保留其开始时的权重：阶段 s 上为 p - s 个",
  "{1} and {2} micro-batches' activations": "分别为 {1} 与 {2} 个微批次的激活值",
  "GPipe and 1F1B have the same bubble: 1F1B saves memory ({1}), not time.":
    "GPipe 与 1F1B 的气泡相同：1F1B 节省的是显存（{1}），不是时间。",
  "For equal stages and no hops GPipe and 1F1B have the same bubble; 1F1B saves memory ({1}), not time. Here they differ ({2} and {3}) because {4}.":
    "各阶段相等且无跳开销时，GPipe 与 1F1B 的气泡相同；1F1B 节省的是显存（{1}），不是时间。这里两者不同（{2} 与 {3}），因为{4}。",
  "stages differ in cost": "各阶段代价不同",
  "1F1B's steady exchange of F and B waits for hops": "1F1B 稳态中 F 与 B 的交替要等待跳",
  "Global counts from the first start to the last end, span the longest device's own window; of total is idle over all time, of ideal idle over work.":
    "“全局”从最早开始计到最晚结束，“跨度”只计最长设备的自身窗口；“占总时间”是空闲除以全部时间，“比理想”是空闲除以工作时间。",
  "{1} is drawn over {2} updates of its weights: fill and drain come once.":
    "{1} 画出 {2} 次权重更新：填充与排空各只出现一次。",
  "Claims are {1}. R here is 1F1B's simulated span rate of total, M is p micro-batches.":
    "“论文声称”一栏是{1}。这里 R 为 1F1B 仿真所得的跨度气泡率（占总时间），M 为 p 个微批次。",
  "asymptotic claims of the zero-bubble papers' authors: rates relative to 1F1B's R, memory relative to its M":
    "零气泡系列论文作者的渐近结论：气泡率相对于 1F1B 的 R，显存相对于 1F1B 的 M",
  "{1} is named more than once": "{1!} 出现了不止一次",
  "{1} is left out: {2}.": "{1} 未列入：{2}。",
  "{1} as a list has one entry a stage: p = {2} of them or a multiple, not {3}":
    "{1!} 写成列表时每个阶段一项：应为 p = {2} 项或其倍数，而不是 {3} 项",

  // why a claim differs
  "Claimed {1} of {2}, simulated {3}; {4}": "声称为 {2} 的 {1} 倍，仿真为 {3} 倍；{4}",
  "Claimed {1} of {2}, simulated {3}: {4}{5}": "声称为 {2} 的 {1} 倍，仿真为 {3} 倍：{4}{5}",
  "1F1B's rate": "1F1B 气泡率",
  "p micro-batches": "p 个微批次",
  "what the claim leaves out is small beside many micro-batches and devices":
    "微批次和设备很多时，结论略去的部分可以忽略",
  "it is {1} {2}": "{2}时为 {1}",
  "then {1} {2}": "{2}时变为 {1}",
  "; the claim is what that goes to": "；论文结论是其极限",
  "without recomputation": "不做重计算",
  "without hops": "没有跳开销",
  "with equal stages": "各阶段相等",
  "with F = I = W": "取 F = I = W",
  "with all activations held until W": "激活值全部保留到 W",
  "with m = {1}": "取 m = {1}",
  "with p = {1} and m = {2}": "取 p = {1}、m = {2}",
  "in groups of p = {1}": "以 p = {1} 为一组",

  // as near as a family can be built
  "{1} has no legal schedule near this setting": "在此设置附近，{1} 没有合法的调度",
  "{1} ops are over the limit of {2}": "{1} 个 op 超过上限 {2}",
  "{1} ops in all, over the limit of {2}; compare fewer families or micro-batches":
    "合计 {1} 个 op，超过上限 {2}；请减少对比的调度族或微批次",
  "{1} = {2} instead of {3}: {4}": "{1!} = {2!}，而不是 {3!}：{4}",
  none: "无",
  "costs listed for {1} stages are spread over {2}": "按 {1} 个阶段列出的代价摊到 {2} 个阶段上",
  "layers listed for {1} stages are spread over {2}": "按 {1} 个阶段列出的层数摊到 {2} 个阶段上",

  // building blocks
  "At equal F, I and W this is the order's steady state, slot for slot.":
    "F、I、W 相等时，这就是该执行顺序的稳态，逐个时隙一致。",
  "The order is laid from this block at the costs set: in its sequence as far as that pays, within its peak.":
    "执行顺序按当前代价由此构件铺成：在有利的范围内保持其次序，且不超过其峰值。",
  "Every {1} slots the next micro-batch follows. {2} a micro-batch's activations {3} {4} slots{5}: {6} / {7} = {8} {9} in flight on average, {10} at the peak{11}.":
    "每隔 {1} 个时隙跟进下一个微批次。{2}一个微批次的激活值{3} {4} 个时隙{5}：{6} / {7} = {8}，即平均有 {8} 个{9}在途，峰值 {10} 个{11}。",
  "The one device keeps": "唯一的设备保留",
  "Every rank keeps": "每个 rank 都保留",
  "Rank {1} keeps": "rank {1} 保留",
  "Ranks {1} and {2} keep": "rank {1} 和 {2} 保留",
  "Rank {1} and {2} others keep": "rank {1} 及另外 {2} 个 rank 保留",
  for: "共",
  "longest,": "最久，共",
  ", all chunks together": "（所有分块合计）",
  ", the worth of {1} {2}": "，相当于 {1} 个{2}",
  chunk: "分块",
  chunks: "分块",
  "micro-batch": "微批次",
  "micro-batches": "微批次",
  "an imported order stands as it is; whether something in it repeats, nobody says":
    "导入的执行顺序原样保留；其中是否有重复的构件，无从得知",
  "{1} has no block: it seeks its order anew for the costs and the memory limit that are set":
    "{1} 没有构件：它针对设定的代价与显存上限重新搜索执行顺序",
  "{1} has no block of one micro-batch: what it repeats are overlapped pairs, each {2}":
    "{1} 没有单个微批次的构件：它重复的是重叠对，每一对是{2}",
  "the forward of one micro-batch and the backward of another": "一个微批次的前向与另一个微批次的反向",
  "{1} has no block: micro-batches take turns in groups, so {2}, at no constant pace":
    "{1} 没有构件：微批次分组轮流执行，{2}，节奏并不恒定",
  "they follow each other closely within a group and then wait for the next": "组内一个紧跟一个，随后要等待下一组",
  "{1} has no block: {2}": "{1} 没有构件：{2}",
  "all forwards run before the first backward, so nothing repeats and memory grows with m without end":
    "所有前向都在第一个反向之前，没有可重复的部分，显存随 m 无限增长",

  // what is sought
  "{1} within {2}": "{1}，上限 {2}",
  "the frontier is sought for schedules of up to {1} ops; here they would have {2}":
    "前沿只对至多 {1} 个 op 的调度进行搜索；这里会有 {2} 个",
  work: "工作量",
  "fill and drain": "填充与排空",
  lifetimes: "激活值生存期",
  "exhaustive search": "穷尽搜索",
  "one {1} ({2}) is the least memory that a step can run in": "一个{1}（{2}）是完成一个训练步所需的最少显存",
  "micro-batch's activations on a device": "微批次在一个设备上的激活值",
  "one micro-batch's activations on a device (1) are the least memory that a step can run in":
    "一个微批次在一个设备上的激活值（1）是完成一个训练步所需的最少显存",
  "left out: {1} ops take too long here": "未列入：{1} 个 op 在此耗时过长",
  "prove needs the solver of ortools; install it with pip install 'ortools>=9.11'":
    "prove 需要 ortools 的求解器；请用 pip install 'ortools>=9.11' 安装",
  "prove goes through schedules of up to {1} ops; this one has {2}":
    "prove 只能穷举至多 {1} 个 op 的调度；此调度有 {2} 个",
  "{1} has one order; what is sought can be proved": "{1} 只有一种执行顺序；可证明的是搜索得到的调度",
};
