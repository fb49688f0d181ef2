// What the timeline tells: why a rank waits, what happens, the critical path, the way of a micro-batch.

/** @type {import("../language.js").Catalogue} */
export const TOLD = {
  // narration.js
  Ranks: "各 rank",
  "What each rank does": "每个 rank 在做什么",
  "{title}: {text}": "{title}：{text}",
  "Play or step with the arrow keys: this line describes what happens and why.":
    "播放或用方向键逐步前进：这一行会说明正在发生什么以及原因。",
  "critical path: {parts}": "关键路径：{parts}",
  "Move the playhead to see what each rank does at that time.": "移动播放头，即可看到每个 rank 当时在做什么。",
  Rank: "rank",
  Phase: "时期",
  Activity: "在做",
  Why: "原因",
  "At {at}": "时刻 {at}",
  "and {n} more ranks": "以及另外 {n} 个 rank",
  // core/explain/why_idle.js
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
  // core/explain/narrate.js
  "warm-up": "预热",
  steady: "稳态",
  "cool-down": "冷却",
  "from warm-up to cool-down": "从预热到冷却",
  "{op}, from {from} to {to}": "{op}，从 {from} 到 {to}",
  "is done": "已完成",
  "has not reported its next op yet": "尚未报告下一个 op",
  "overhead before {op} until {to}": "{op} 之前的开销，到 {to} 为止",
  "memory cap, waits for {giver} until {to}": "显存上限，等待 {giver}，到 {to} 为止",
  "in-flight limit, waits for {giver} until {to}": "在途上限，等待 {giver}，到 {to} 为止",
  "waits for {giver} until {to}": "等待 {giver}，到 {to} 为止",
  "copies {op}, from {from} to {to}": "拷贝 {op}，从 {from} 到 {to}",
  "{op} starts on rank {rank} after a wait of {wait}": "rank {rank} 等待 {wait} 后开始 {op}",
  "{op} starts on rank {rank}": "rank {rank} 开始 {op}",
  "{op} starts on the copy lane of rank {rank}": "rank {rank} 的拷贝通道开始 {op}",
  "1 more op starts": "另有 1 个 op 开始",
  "{n} more ops start": "另有 {n} 个 op 开始",
  "rank {rank}: {does}": "rank {rank}：{does}",
  "At {at} the step is over.": "到 {at}，训练步结束。",
  "{busy} of {p} ranks work": "{p} 个 rank 中有 {busy} 个在工作",
  "At {at}, {phase}: {what}.": "时刻 {at}，{phase}：{what}。",
  // path_sentences.js
  "overlapped F and B": "重叠的 F 与 B",
  "waiting for the same rank": "等待同一 rank",
  "{name} {part}": "{name} {part}",
  "Critical path, length {length}: {parts}; {ops} ops in a chain, {hops} hops between ranks.":
    "关键路径，长 {length}：{parts}；一串 {ops} 个 op，跨 rank {hops} 次。",
  "{parts} and more": "{parts} 等",
  "not yet": "尚无",
  ["Micro-batch {micro} enters at {enters} on rank {rank}; forward done at {forward}, backward at {backward}, " +
  "weight gradients at {weights}."]:
    "微批次 {micro} 于 {enters} 进入 rank {rank}；前向于 {forward} 完成，反向于 {backward}，权重梯度于 {weights}。",
  "Micro-batch {micro} enters at {enters} on rank {rank}; forward done at {forward}, backward at {backward}.":
    "微批次 {micro} 于 {enters} 进入 rank {rank}；前向于 {forward} 完成，反向于 {backward}。",
  "It never waits.": "它从不等待。",
  "Longest wait: {wait} before {op} on rank {rank}, from {from} to {to}.":
    "最长的等待：rank {rank} 上 {op} 之前的 {wait}，从 {from} 到 {to}。",
  "micro-batch {micro}: {from} to {to}": "微批次 {micro}：{from} 到 {to}",
  "micro-batch {micro}": "微批次 {micro}",
};
