// The first visit's line, the tour and the help.

export const HELP = {
  "Your {gpus} GPUs idle {share} of the step.": "你的 {gpus} 块 GPU 每步有 {share} 的时间在空等。",
  "Can you do better?": "你能做得更好吗？",
  "Pieces that a batch is cut into": "把一个批次切成几份",
  "Drag it: more pieces, less grey.": "拖动它：份数越多，灰色越少。",
  waiting: "等待",
  ["A row is a GPU with its share of the layers; time runs to the right. The numbers are the pieces of the batch, " +
  "called micro-batches."]: "每行是一块 GPU，负责模型的一部分层；时间向右。方框里的数字是批次的第几份，称为微批次。",
  "Price of a GPU-hour: $": "每 GPU 小时的价格 $",
  "The grey costs {day} a day here, and {many_day} a day on {many} such GPUs.":
    "灰色在这里每天花掉 {day}，在 {many} 块这样的 GPU 上每天 {many_day}。",
  ["More pieces mean less grey, but each GPU then keeps the activations of all {pieces} in memory. What decides " +
  "is the order of the work."]:
    "份数越多灰色越少，但每块 GPU 要在显存里留着全部 {pieces} 份的激活值。起决定作用的是执行顺序。",
  "Fix it: the first task": "动手改进：第一个任务",
  "See how it is done: a tour": "看看怎么做：导览",
  "Open the whole instrument": "打开完整工具",
  "Plan a training run": "规划训练",
  "The price is a number of dollars from 0 to {most}.": "价格应为 0 到 {most} 之间的美元数。",
  Learn: "学习",
  Teach: "教学",
  Numbers: "数值",
  "Open the lessons": "打开课程",
  Help: "帮助",
  "Help: what things mean, shortcuts, a tour (?)": "帮助：术语、快捷键、导览 (?)",
  "Take the tour": "开始导览",
  "Nine steps through the schedules; your view comes back at the end.": "九步看懂各种调度；结束后回到你的视图。",
  "What things mean": "术语",
  "show it": "查看",
  "A pipeline": "流水线",
  Time: "时间",
  "Memory and messages": "显存与通信",
  Schedules: "调度",
  "Device, rank (p)": "设备，rank（p）",
  "One GPU, or a group of GPUs that share tensor parallelism. A row of the timeline; there are p of them.":
    "一块 GPU，或共同做张量并行的一组 GPU。时间线上的一行，共 p 个。",
  Stage: "阶段",
  "Consecutive layers of the model that one device computes. Activations go from stage to stage.":
    "由一个设备计算的若干相邻层。激活值从一个阶段传到下一个阶段。",
  "Chunk (v)": "分块（v）",
  "A device can hold v stages that are not neighbours. Each is a chunk; with one chunk v is 1.":
    "一个设备可以持有 v 个互不相邻的阶段，每个称为一个分块；只有一个分块时 v 为 1。",
  "Micro-batch (m)": "微批次（m）",
  "A training step's batch is cut into m micro-batches, which follow each other through the stages.":
    "一个训练步的批次切成 m 个微批次，依次通过各阶段。",
  "One stage computes one micro-batch's outputs and keeps the activations that the backward will need.":
    "一个阶段计算一个微批次的输出，并保留反向所需的激活值。",
  "Backward B = I + W": "反向 B = I + W",
  "The gradients of one stage and one micro-batch. B takes about twice the time of F.":
    "一个阶段、一个微批次的梯度。B 的时间约为 F 的两倍。",
  "Input gradient I, weight gradient W": "输入梯度 I，权重梯度 W",
  "The two halves of a backward. The stage before waits for I only; W can be done at any later time.":
    "反向的两半。前一个阶段只等待 I；W 可以在之后任何时候执行。",
  ["The share of all devices' time, from the first start to the last end, in which they wait. Some papers divide by " +
  "the work instead, others take the busiest device's window: More figures has all four."]:
    "从最早开始到最晚结束，所有设备的时间中用于等待的占比。有的论文除以工作时间，有的只取最忙设备的窗口：四种定义都在“更多数据”中。",
  "From the start of the first op to the end of the last one; also called makespan.":
    "从第一个 op 开始到最后一个 op 结束，也称 makespan。",
  "Warm-up, steady state, cool-down": "预热、稳态、冷却",
  "The pipeline fills, then works in a repeating pattern, then drains. Bubbles come from the first and last.":
    "流水线先填充，再按重复的模式工作，最后排空。气泡来自首尾两段。",
  "The time a message takes from one device to the next, point to point (p2p).":
    "一条消息从一个设备到下一个设备所需的时间，点对点（p2p）。",
  "Critical path": "关键路径",
  "A chain of ops and messages without a gap that is as long as the step: only shortening it helps.":
    "一串首尾相接、与训练步等长的 op 和消息：只有缩短它才有用。",
  MFU: "MFU（模型算力利用率）",
  "Model FLOP utilisation: the FLOP that the model needs, divided by what the devices could do in that time.":
    "模型 FLOP 利用率：模型所需的 FLOP 除以各设备在这段时间内能完成的 FLOP。",
  "Paced, free": "按节拍，自由",
  ["A run's modes. Paced, each op lasts as long as the plan says, so that the schedule can be watched; free, each " +
  "op takes the time its tensors need."]:
    "运行的两种模式。按节拍（paced）时，每个 op 的时长与计划一致，便于观看；自由（free）时，每个 op 用其张量实际需要的时间。",
  "In flight": "在途",
  "Micro-batches whose forward is done and whose backward is not: their activations take memory.":
    "前向已完成而反向未完成的微批次：它们的激活值占用显存。",
  Recomputation: "重计算",
  "Activations are dropped after the forward and computed again before the backward: time for memory.":
    "前向之后丢弃激活值，反向之前重新计算：以时间换显存。",
  Offload: "卸载",
  "Activations are copied to the host's memory after the forward and back before the backward.":
    "前向之后把激活值拷到主机内存，反向之前再拷回来。",
  "Vocabulary parallelism": "词表并行",
  "The output layer is as heavy as several layers. Its weights are cut over all devices instead of the last.":
    "输出层相当于好几层。把它的权重切分到所有设备，而不是全放在最后一个设备上。",
  "ZeRO 1 to 3": "ZeRO 1 至 3",
  "Data-parallel replicas share optimizer state (1), gradients (2) and weights (3) instead of copying them.":
    "数据并行的各副本分担优化器状态（1）、梯度（2）与权重（3），而不是各存一份。",
  "All forwards, then all backwards: (p - 1) / (m + p - 1) of the step is bubble, m micro-batches are held.":
    "先全部前向，再全部反向：训练步的 (p - 1) / (m + p - 1) 是气泡，保留 m 个微批次。",
  "Never drains: each backward updates the weights at once, with several versions of them kept.":
    "从不排空：每次反向立即更新权重，并保留多个权重版本。",
  "One forward, one backward in turn: the same bubble as GPipe, at most p micro-batches held.":
    "一次前向、一次反向轮流执行：气泡与 GPipe 相同，最多保留 p 个微批次。",
  "Interleaved 1F1B": "交错式 1F1B",
  "v chunks on each device: about 1/v of the bubble for v times the messages and a little more.":
    "每个设备 v 个分块：气泡约为 1/v，消息为 v 倍多一点。",
  "Looped breadth-first": "循环广度优先",
  "All micro-batches through one chunk before the next: fewer, larger phases for messages and gradients.":
    "所有微批次先通过一个分块再到下一个：消息与梯度的阶段更少、更大。",
  "Zero bubble: ZB-H1, ZB-H2": "零气泡：ZB-H1、ZB-H2",
  "W fills what was bubble. ZB-H1 keeps 1F1B's memory; ZB-H2 takes twice as much and leaves no gap.":
    "用 W 填补原来的气泡。ZB-H1 的显存与 1F1B 相同；ZB-H2 用两倍显存，不留空隙。",
  "V-Min, V-Half, ZB-V": "V-Min、V-Half、ZB-V",
  "Two chunks on each device, placed on a V: memory of a third, half or all of 1F1B's.":
    "每个设备两个分块，按 V 形放置：显存为 1F1B 的三分之一、一半或相同。",
  "Micro-batches from both ends; a forward and a backward overlap to hide their messages.":
    "微批次从两端进入；一个前向与一个反向重叠，以掩盖通信。",
  Back: "上一步",
  Next: "下一步",
  Done: "完成",
  "End the tour": "结束导览",
  "{at} of {all}": "第 {at} 步，共 {all} 步",
  "A row is a device, a box is an op": "一行是一个设备，一个方块是一个 op",
  ["Four devices hold a quarter of the model each. Four micro-batches go forward (blue) from device 0 to 3, and " +
  "their gradients come back (vermilion). The number is the micro-batch; time runs to the right."]:
    "四个设备各持有模型的四分之一。四个微批次从设备 0 前向（蓝色）到设备 3，它们的梯度再返回（朱红色）。数字是微批次编号；时间向右流逝。",
  "Grey is the bubble": "灰色是气泡",
  ["A device that waits is wasted: {bubble} of the step here, (p - 1) / (m + p - 1). Hover or tap any grey area to " +
  "read what it waits for."]:
    "设备等待就是浪费：这里占训练步的 {bubble}，即 (p - 1) / (m + p - 1)。把指针移到灰色处，或轻点它，就能读到它在等什么。",
  "More micro-batches, less bubble, more memory": "微批次越多，气泡越小，显存越大",
  ["With m = 16 the bubble is {bubble}. But GPipe keeps every micro-batch's activations until its backward: the " +
  "grey strips over the rows rise to {memory}. Drag m and watch both."]:
    "m = 16 时气泡为 {bubble}。但 GPipe 要把每个微批次的激活值保留到它的反向：各行上方的灰条升到 {memory}。拖动 m，看两者的变化。",
  "1F1B: the same bubble, memory p": "1F1B：气泡相同，显存为 p",
  ["1F1B begins a backward as soon as it can. Its bubble is GPipe's, {bubble}; its strips stay at {memory} instead " +
  "of {more}, so m can grow."]:
    "1F1B 一有可能就开始反向。它的气泡与 GPipe 相同，为 {bubble}；灰条停在 {memory} 而不是 {more}，因此 m 可以增大。",
  "Interleaving: half the bubble, more messages": "交错：气泡减半，消息更多",
  ["Each device holds two chunks of half the size (light and dark), so the pipeline fills twice as fast: {less} " +
  "instead of {bubble}. Every micro-batch now crosses the devices twice."]:
    "每个设备持有两个一半大小的分块（一浅一深），流水线填充快一倍：{less} 而不是 {bubble}。每个微批次要两次经过各设备。",
  "Zero bubble: let the weight gradient wait": "零气泡：让权重梯度等一等",
  ["The backward is split: the stage before needs I (orange) only, and W (green) fills what was bubble. {less} " +
  "instead of {bubble}, at the same memory."]:
    "把反向拆开：前一个阶段只需要 I（橙色），W（绿色）用来填补气泡。{less} 而不是 {bubble}，显存不变。",
  "Memory is a choice too": "显存也可以选择",
  ["V-Half places two chunks on a V and holds {less} micro-batches where 1F1B holds {memory}: longer sequences or a " +
  "larger model then fit. See all of them under Compare."]:
    "V-Half 把两个分块放成 V 形，只保留 {less} 个微批次，而 1F1B 保留 {memory} 个：于是能放下更长的序列或更大的模型。全部调度见“对比”。",
  "Ask why": "问为什么",
  ["Messages take time now (Hop c = 0.4), and the critical path is drawn: the chain that makes the step as long as " +
  "it is. Select an op to see what it needs and what it unblocks; press / to find one."]:
    "现在通信也要时间（跳 c = 0.4），并画出关键路径：正是这一串 op 决定了训练步有多长。选中一个 op，可看到它需要什么、又放行什么；按 / 可查找 op。",
  "Now run it": "现在运行它",
  ["Run executes this very order with real tensors, one process a device, checks the gradients against a single " +
  "process, and draws what it measured under the plan."]:
    "“运行”用真实的张量执行这一顺序，每个设备一个进程，与单进程核对梯度，并把实测结果画在计划下方。",
};
