// What <bubble-line> says too: all that it needs, so that it need not bring the other texts.

export const COMPONENT = {
  // names of fields, figures and ops
  "Forward F": "前向 F",
  "Input grad I": "输入梯度 I",
  "Weight grad W": "权重梯度 W",
  "Hop (p2p) c": "每跳延迟 c",
  "Devices p": "设备数 p",
  "Micro-batches m": "微批次数 m",
  "Chunks v": "模型块数 v",
  copy: "拷贝",
  ", ": "、",
  "peak memory": "峰值显存",
  "step time": "单步时间",
  "{attribute}: {family} has no such attribute; leave it out.": "{attribute}：{family} 没有此属性；请去掉它。",
  "{given}: too many ops to draw at this p and v; at most {nearest}.":
    "{given}：在此 p 与 v 下 op 太多，无法绘制；至多为 {nearest}。",
  "{given} is not a whole number from {least} to {most}; the nearest is {nearest}.":
    "{given} 不是 {least} 到 {most} 的整数；最接近的是 {nearest}。",
  "{given} is not a number from {least} to {most}; the nearest is {nearest}.":
    "{given} 不是 {least} 到 {most} 的数；最接近的是 {nearest}。",
  "{given} is not one of {words}; the nearest is {nearest}.": "{given} 不在 {words} 之中；最接近的是 {nearest}。",
  "{given} is searched or imported, which takes a server; the nearest is {nearest}.":
    "{given} 需要由服务器搜索或导入；最接近的是 {nearest}。",
  "{text} Arrow keys choose an op, space plays.": "{text}方向键选择 op，空格键播放。",
  "Read as a table": "以表格阅读",
  ["{family} on {p} devices with {m} micro-batches: a step takes {time}, {bubble} of it is idle, and a device holds " +
  "at most {peak} micro-batches' activations."]:
    "{family}，{p} 个设备，{m} 个微批次：一个训练步用时 {time}，其中 {bubble} 空闲，一个设备最多持有 {peak} 个微批次的激活值。",
  "{op} on rank {rank}, from {from} to {to}": "rank {rank} 上的 {op}，从 {from} 到 {to}",
  "It needs nothing from elsewhere.": "它不需要来自别处的数据。",
  "chunks held": "持有的分块",
  "order of ops": "op 的执行顺序",
  ".": "。",
  " ": "",
  Schedule: "调度",
  "schedule timeline": "调度时间线",
  Playback: "播放控制",
  "Sizes and costs": "规模与耗时",
  "planned; {time} late": "计划；晚 {time}",
  "planned; {time} early": "计划；早 {time}",
  "input gradient": "输入梯度",
  busy: "忙碌",
  idle: "空闲",
  bubble: "气泡",
  "{barrier} of {micro}": "{micro} 的 {barrier}",
  needs: "依赖",
  unblocks: "后继",
  "and {n} more": "还有 {n} 个",
  Play: "播放",
  "F forward": "F 前向",
  "I input gradient": "I 输入梯度",
  "W weight gradient": "W 权重梯度",
  "B backward": "B 反向",
  "B full backward = I + W": "B 完整反向 = I + W",
  "F and B overlapped": "F 与 B 重叠",
  gradient: "梯度",
  sends: "发送",
  receives: "接收",
  awaited: "被等待",
  Idle: "空闲",
  Playhead: "播放头",
  Pause: "暂停",
  "the end": "末尾",
  "t {at} / {end}": "t {at} / {end}",
  Rank: "rank",
  output: "输出",
  loss: "损失",
  "part in the barrier": "屏障中的一份",
  "has not ended yet": "尚未结束",
  "ends at {end}": "于 {end} 结束",
  "ends at {end} and arrives by {by}": "于 {end} 结束，最迟 {by} 到达",
  "ends at {end} and arrives at {there} after a hop of {hop}": "于 {end} 结束，经过一跳 {hop} 后于 {there} 到达",
  "needs the {cargo} of {giver} on rank {rank}, which {travel}": "需要 rank {rank} 上 {giver} 的{cargo}，后者{travel}",
  "comes after {op} in its rank's order, which {travel}": "按其 rank 的执行顺序排在 {op} 之后，后者{travel}",
  "uses its {cargo}": "使用其{cargo}",
  "uses its {cargo}, which arrives at {there}": "使用其{cargo}，{there} 到达",
  "is next in the rank's order": "是该 rank 执行顺序中的下一个",
  "Rank {rank} is idle from {from} to {to}: {why}.": "rank {rank} 从 {from} 到 {to} 空闲：{why}。",
  "drain: no work is left for it in this step": "排空：这一步已没有它的工作",
  "it has no work in this step": "这一步没有它的工作",
  "its next op {next} waits for {giver} on rank {other}, which has not ended yet":
    "它的下一个 op {next} 在等 rank {other} 上的 {giver}，后者尚未结束",
  "its next op {next} has what it needs and has not been reported yet":
    "它的下一个 op {next} 所需已齐，但尚未收到它的报告",
  "Rank {rank} has been idle since {from}: {why}.": "rank {rank} 自 {from} 起一直空闲：{why}。",
  "{cap}; {waits}": "{cap}；{waits}",
  "The input arrived at {there}: overhead of {late}.": "输入在 {there} 已到达：开销 {late}。",
  "{forward} could run already, but the order has {op} first.": "{forward} 本可执行，但执行顺序把 {op} 排在前面。",
  "ends at {end}; its message {held} and arrives at {there}": "在 {end} 结束；它的消息{held}，在 {there} 到达",
  "ends at {end}; its message {held}": "在 {end} 结束；它的消息{held}",
  "ends at {end} and arrives at {there}": "在 {end} 结束，在 {there} 到达",
  "waits until {sent} behind {first} on a stream of rank {rank}": "在 rank {rank} 的流上排在 {first} 之后，等到 {sent}",
  "waits until {sent} for its receive, which rank {rank} posts after {issuer}":
    "等到 {sent} 才有接收，rank {rank} 在 {issuer} 之后才发起",
  "{waits}; {taker} recomputes for {lead} before": "{waits}；{taker} 在此之前重计算 {lead}",
  "head of line: {waits}": "队头阻塞：{waits}",
  "the input of {op} was available from the start: overhead of {late}": "{op} 的输入一开始就在：开销 {late}",
  "the input of {op} arrived at {there}: overhead of {late}": "{op} 的输入在 {there} 已到达：开销 {late}",
  "memory cap: it holds {n}, and with {forward} it would be above its limit of {limit}":
    "显存上限：它已占用 {n}，再执行 {forward} 就会超出上限 {limit}",
  "The order": "该执行顺序",
  ["{family} admits at most {n} chunks in flight here, so {forward} may not start yet " +
  "(the order's rule, not the GPU's)"]:
    "{family} 在此最多允许 {n} 个分块在途，因此 {forward} 还不能开始 (这是执行顺序的规则，不是 GPU 的限制)",
  "{family} admits at most {n} in flight here, so {forward} may not start yet (the order's rule, not the GPU's)":
    "{family} 在此最多允许 {n} 个微批次在途，因此 {forward} 还不能开始 (这是执行顺序的规则，不是 GPU 的限制)",
  "{taker} waits for the barrier, to which {giver} on rank {other} comes last, which {travel}":
    "{taker} 在等屏障，最后到达屏障的是 rank {other} 上的 {giver}，它{travel}",
  "{taker} waits for its activation to come back: the copy lane does {giver}, which {travel}":
    "{taker} 在等它的激活值取回：拷贝通道正在执行 {giver}，它{travel}",
  "fill: it waits for the first micro-batch. {taker}'s input is the output of {giver} on rank {other}, which {travel}":
    "填充：它在等第一个微批次。{taker} 的输入是 rank {other} 上 {giver} 的输出，后者{travel}",
  "it waits for {taker}'s input, the output of {giver} on rank {other}, which {travel}":
    "它在等 {taker} 的输入，即 rank {other} 上 {giver} 的输出，后者{travel}",
  "it waits for {taker}'s gradient, the output of {giver} on rank {other}, which {travel}":
    "它在等 {taker} 的梯度，即 rank {other} 上 {giver} 的输出，后者{travel}",
  "{op} itself waits for {giver} on rank {other}, which {travel}.":
    "{op} 自己在等 rank {other} 上的 {giver}，后者{travel}。",
  "The copy lane is busy with {busy} until {free} before that.": "在此之前，拷贝通道忙于 {busy}，到 {free} 为止。",
  "Rank {rank} is busy with {busy} until {free} before that.": "在此之前，rank {rank} 忙于 {busy}，到 {free} 为止。",
};
