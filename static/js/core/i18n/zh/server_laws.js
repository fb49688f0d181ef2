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
  "two loops": "两重循环",
  "two loops over the chunks": "对模型分块的两重循环",
  "three phases": "三段循环",
  "three phases over a chunk sequence": "按模型分块序列的三段循环",
  "three phases, the last only at the very end of training": "三段循环，最后一段只在训练结束时出现",
  "five phases": "五段循环",
  "five phases over a chunk sequence": "按模型分块序列的五段循环",
  "eight steps": "八个步骤",
  "nine phases": "九段循环",
  "a block of six ops, repeated": "六个 op 组成的构件，反复平铺",
  "greedy construction, then a search": "先贪心构造，再搜索",
  "as given": "如文件所给",

  // sources
  "DeepSeek-AI, DeepSeek-V3 Technical Report, arXiv 2412.19437, section 3.2.1":
    "DeepSeek-AI，DeepSeek-V3 Technical Report，arXiv 2412.19437，第 3.2.1 节",
  "Sea AI Lab, DualPipe could be better without the Dual; deepseek-ai/DualPipe":
    "Sea AI Lab，DualPipe could be better without the Dual（博客）；deepseek-ai/DualPipe",
  "Wan et al., PipeOffload: Improving Scalability of Pipeline Parallelism, arXiv 2503.01328":
    "Wan 等，PipeOffload: Improving Scalability of Pipeline Parallelism，arXiv 2503.01328",
  "Huang et al., GPipe, arXiv 1811.06965": "Huang 等，GPipe，arXiv 1811.06965",
  "Narayanan et al., Efficient Large-Scale Language Model Training on GPU Clusters, arXiv 2104.04473":
    "Narayanan 等，Efficient Large-Scale Language Model Training on GPU Clusters，arXiv 2104.04473",
  "Lamy-Poirier, Breadth-First Pipeline Parallelism, arXiv 2211.05953":
    "Lamy-Poirier 著，Breadth-First Pipeline Parallelism，arXiv 2211.05953",
  "torch.distributed.pipelining ScheduleInterleavedZeroBubble, after arXiv 2401.10241":
    "torch.distributed.pipelining 的 ScheduleInterleavedZeroBubble，源自 arXiv 2401.10241",
  "Narayanan et al., Memory-Efficient Pipeline-Parallel DNN Training (PipeDream-2BW), arXiv 2006.09503":
    "Narayanan 等，Memory-Efficient Pipeline-Parallel DNN Training（PipeDream-2BW），arXiv 2006.09503",
  "Narayanan et al., PipeDream: Generalized Pipeline Parallelism for DNN Training, SOSP 2019":
    "Narayanan 等，PipeDream: Generalized Pipeline Parallelism for DNN Training，SOSP 2019",
  "Qi et al., Pipeline Parallelism with Controllable Memory, arXiv 2405.15362":
    "Qi 等，Pipeline Parallelism with Controllable Memory，arXiv 2405.15362",
  "Qi et al., Pipeline Parallelism with Controllable Memory, arXiv 2405.15362, section 3.3":
    "Qi 等，Pipeline Parallelism with Controllable Memory，arXiv 2405.15362，第 3.3 节",
  "Qi et al., Zero Bubble Pipeline Parallelism, arXiv 2401.10241, section 6":
    "Qi 等，Zero Bubble Pipeline Parallelism，arXiv 2401.10241，第 6 节",
  "Qi et al., Zero Bubble Pipeline Parallelism, arXiv 2401.10241, section 3":
    "Qi 等，Zero Bubble Pipeline Parallelism，arXiv 2401.10241，第 3 节",
  "Qi et al., Zero Bubble Pipeline Parallelism, arXiv 2401.10241, section 2.1":
    "Qi 等，Zero Bubble Pipeline Parallelism，arXiv 2401.10241，第 2.1 节",
  "Qi et al., Zero Bubble Pipeline Parallelism, arXiv 2401.10241, section 2.2":
    "Qi 等，Zero Bubble Pipeline Parallelism，arXiv 2401.10241，第 2.2 节",
  "a file: torch's CSV, or a trace": "文件：torch 的 CSV 或 trace",

  // who uses it
  "teaching; torch's ScheduleGPipe": "教学；torch 的 ScheduleGPipe",
  "Megatron-LM, DeepSpeed; torch's Schedule1F1B": "Megatron-LM、DeepSpeed；torch 的 Schedule1F1B",
  "the PipeDream system; its flushing heir 1F1B is what is used today":
    "PipeDream 系统；如今实际使用的是它带冲刷（flush）的后继者 1F1B",
  "Megatron-LM, Llama 3; torch's ScheduleInterleaved1F1B": "Megatron-LM、Llama 3；torch 的 ScheduleInterleaved1F1B",
  "torch's ScheduleLoopedBFS": "torch 的 ScheduleLoopedBFS",
  "Sea AI Lab's Megatron-LM fork": "Sea AI Lab 的 Megatron-LM 分支",
  "Sea AI Lab's Megatron-LM fork; the order behind DeepSeek's ZB1P":
    "Sea AI Lab 的 Megatron-LM 分支；DeepSeek 所说的 ZB1P 即此执行顺序",
  "Sea AI Lab's Megatron-LM fork, as ZB-1p and ZB-2p": "Sea AI Lab 的 Megatron-LM 分支，名为 ZB-1p 与 ZB-2p",
  "Sea AI Lab's zero-bubble Megatron-LM": "Sea AI Lab 的零气泡版 Megatron-LM",
  "torch's ScheduleZBVZeroBubble; Sea AI Lab's Megatron-LM fork":
    "torch 的 ScheduleZBVZeroBubble；Sea AI Lab 的 Megatron-LM 分支",
  "deepseek-ai/DualPipe; torch's ScheduleDualPipeV": "deepseek-ai/DualPipe；torch 的 ScheduleDualPipeV",
  "Sea AI Lab's PipeOffload": "Sea AI Lab 的 PipeOffload",

  // a title that is no name
  "Imported order": "导入的执行顺序",

  // summaries
  "All forwards, then all backwards: simplest, and every micro-batch's activations are held at once.":
    "先做完全部前向，再做全部反向：最简单，但所有微批次的激活值要同时保存。",
  "As soon as a micro-batch's backward can run, it does. The bubble is GPipe's; the memory is p, not m.":
    "某个微批次的反向一旦可以执行就立即执行。气泡与 GPipe 相同，显存是 p 而不是 m。",
  "1F1B without a flush: each backward updates the weights at once, so the pipeline never drains. Paid for in stashed weights (p - s versions on stage s) and gradients that are up to p - 1 updates late.":
    "不冲刷（flush）的 1F1B：每次反向后立即更新权重，流水线从不排空。代价是要暂存多个权重版本（阶段 s 上有 p - s 个），梯度最多陈旧 p - 1 次更新。",
  "Each device holds v chunks of the model: the bubble is divided by v, messages are multiplied by v.":
    "每个设备持有 v 个模型分块：气泡缩小到 1/v，消息增加到 v 倍。",
  "GPipe with v chunks per device: the interleaved bubble, one long phase for each chunk's messages and gradients, and every activation held.":
    "每个设备 v 个模型分块的 GPipe：气泡与交错式相同，每个分块的消息和梯度各占一段较长的时间，所有激活值都要保存。",
  "Interleaved 1F1B with the backward split in two: weight gradients wait and fill the bubble.":
    "把反向拆成两半的交错式 1F1B：权重梯度推后执行，用来填补气泡。",
  "1F1B with the backward split: weight gradients fill the cool-down. A third of the bubble, same memory.":
    "拆分反向的 1F1B：用权重梯度填补冷却阶段。气泡为三分之一，显存不变。",
  "Twice the warm-up: no bubble between a device's first and last op, for twice 1F1B's memory.":
    "预热加倍：每个设备从第一个 op 到最后一个 op 之间没有气泡，代价是两倍于 1F1B 的显存。",
  "An order sought for these costs within the memory given: p is ZB-1p, 2p is ZB-2p, anything between works.":
    "针对当前代价、在给定显存内搜索出的执行顺序：p 即 ZB-1p，2p 即 ZB-2p，两者之间的任意值都可以。",
  "A V of two chunks per device at a third of 1F1B's memory; unequal costs repeat a bubble every period.":
    "每个设备两个分块的 V 形，显存为 1F1B 的三分之一；代价不相等时，每个周期都会重复出现气泡。",
  "A V of two chunks per device at half of 1F1B's memory, with about half of its bubble.":
    "每个设备两个分块的 V 形，显存为 1F1B 的一半，气泡也约为一半。",
  "Two chunks per device on a V: no bubble in each device's own window, at 1F1B's memory, if F = I = W.":
    "每个设备两个分块、按 V 形放置：若 F = I = W，则以 1F1B 的显存使每个设备自身窗口内没有气泡。",
  "A V of two chunks per device, its order sought for these costs within the memory given.":
    "每个设备两个分块的 V 形，执行顺序针对当前代价、在给定显存内搜索得到。",
  "Two replicas run in opposite directions; a forward and a backward overlap on each device.":
    "两份模型副本沿相反方向运行；每个设备上一个前向与一个反向重叠执行。",
  "DualPipe cut in half and folded into a V: the same overlap with parameters held once.":
    "把 DualPipe 对半切开再折成 V 形：重叠方式相同，参数只保存一份。",
  "Interleaved 1F1B with W right after I and the shortest warm-up: 1F1B's memory, less bubble.":
    "W 紧跟 I、预热最短的交错式 1F1B：显存与 1F1B 相同，气泡更小。",
  "GIS in half groups: toward half of 1F1B's memory as v grows, for a longer bubble.":
    "以半组为单位的 GIS：v 越大显存越接近 1F1B 的一半，代价是气泡更长。",
  "An order from elsewhere, as it stands in the link.": "来自别处的执行顺序，原样保存在链接里。",

  // where laws are exact, and why not
  "the stages differ in cost; the closed form assumes equal ones": "各阶段代价不同；该闭式公式假设各阶段相等",
  "the hops of the barriers around S and T are not counted": "未计入 S 与 T 前后屏障的跳",
  "interlaced, a forward that is longer than the backward holds the ranks up":
    "交错（interlaced）方式下，前向比反向长会拖住各 rank",
  "the formula leaves out communication, and here a hop takes time": "公式不计通信，而这里一跳需要时间",
  "S and T stand among the ops, and this form does not count them": "op 中含有 S 与 T，而此公式没有计入它们",
  "a backward may have to wait for its reload": "反向可能要等待取回（reload）",
  "W takes longer than F or I and does not fit where it should fill": "W 比 F 或 I 更长，放不进它应当填补的空隙",
  "a pair that is faster than F + B leaves different idle time on each rank":
    "重叠对比 F + B 更快时，各 rank 的空闲时间各不相同",
  "DeepSeek's table: (PP/2-1)(F&B + B - 3W), B the full backward":
    "DeepSeek 论文的表：(PP/2-1)(F&B + B - 3W)，其中 B 为完整反向",
  "the same where F takes longer than I": "同上，用于 F 比 I 更长的情形",
  "DeepSeek's table: PP + 1, on every rank": "DeepSeek 论文的表：每个 rank 上为 PP + 1",
  "F and I take different times": "F 与 I 用时不同",
  "F is shorter than I": "F 比 I 短",
  "one F down and one I up the ranks of one chunk": "在一个分块内，一个 F 沿各 rank 下行，一个 I 沿各 rank 上行",
  "warm-up": "预热的个数",
  "warm-up and one more": "预热的个数再加一",
  "2(p-1) + (p-g)(v-1) chunk times with g = ceil(p/2)": "2(p-1) + (p-g)(v-1) 个分块时间，其中 g = ceil(p/2)",
  "F, I and W take different times": "F、I、W 用时不同",
  "GPipe section 2.3, with a hop's latency added": "GPipe 论文第 2.3 节，另加一跳的延迟",
  "flow-shop: fill, then the slowest stage": "流水作业（flow-shop）：先填充，之后由最慢的阶段决定",
  "every forward comes before every backward": "所有前向都在所有反向之前",
  "backwards from last to first start at once on a slow last stage":
    "反向从最后一个微批次开始，在较慢的最后阶段上可立即启动",
  "some group has fewer than p micro-batches": "有的组不足 p 个微批次",
  "a hop longer than a chunk's op, or a ragged last group, costs more than the formula counts":
    "若一跳比一个分块的 op 更长，或最后一组不满，实际代价会超过公式所计",
  "arXiv 2104.04473, section 2.2": "arXiv 2104.04473，第 2.2 节",
  "with g = p each change of chunk waits for p hops; every micro-batch more in the group hides f/v of it":
    "g = p 时，每次切换分块要等待 p 跳；组内每多一个微批次就能掩盖其中的 f/v",
  "warm-up of rank 0 and one more": "rank 0 的预热个数再加一",
  "the group is smaller than p": "组小于 p",
  "fewer micro-batches than devices: a chunk's first forward waits for the last of the chunk before":
    "微批次少于设备：一个分块的首个前向要等待上一个分块的最后一个前向",
  "arXiv 2211.05953, section 3": "arXiv 2211.05953，第 3 节",
  "ZB-H1's, divided by v": "ZB-H1 的公式除以 v",
  "by each device's own window": "按每个设备自身的窗口计",
  "the second term is the hop that each steady F-B exchange waits for; textbooks leave it out":
    "第二项是稳态中每次 F-B 交替所等待的跳；教科书常略去此项",
  "rank 0 holds its warm-up and one more": "rank 0 持有其预热的微批次再加一个",
  "the fill at the start and the drain at the end of all m steps drawn; none in between, where 1F1B pays it once a step":
    "所画的全部 m 次更新中，只有开头的填充和结尾的排空；中间没有，而 1F1B 每个训练步都要付出一次",
  "also the weight versions that stage 0 holds": "也是阶段 0 持有的权重版本数",
  "counted on orders for p = 3 to 32 and m = 3p to 10p": "在 p = 3 至 32、m = 3p 至 10p 的执行顺序上数出",
  "counted in the block, slot by slot": "在构件中逐个时隙数出",
  "the closed form counts slots; here F, I and W take different times": "该闭式公式按时隙计数；而这里 F、I、W 用时不同",
  "fewer than 3p micro-batches do not fill the pipeline": "少于 3p 个微批次填不满流水线",
  "the form was counted for at least three devices": "该公式是在至少三个设备的情形下数出的",
  "by each device's own window, as the paper counts": "按每个设备自身的窗口计，与论文一致",
  "2p chunks, 1F1B's memory": "2p 个分块，即 1F1B 的显存",
  "the order is made for F = I = W": "该执行顺序是为 F = I = W 设计的",
  "fewer than 2p - 1 micro-batches": "少于 2p - 1 个微批次",
  "arXiv 2401.10241 table 1 gives (p-1)(f+i-w), which needs w <= f and w <= i":
    "arXiv 2401.10241 表 1 给出 (p-1)(f+i-w)，它要求 w <= f 且 w <= i",
  "the same, by each device's own window": "同上，按每个设备自身的窗口计",
  "W lags by r what the warm-up is shorter by": "预热每短 r，W 就滞后 r",
  "fewer micro-batches than devices": "微批次少于设备",
  "fewer than 2p - 1 micro-batches do not fill the longer warm-up": "少于 2p - 1 个微批次填不满加长的预热",
  "by each device's own window, as the paper counts: the optimizer step must need no global synchronisation":
    "按每个设备自身的窗口计，与论文一致：前提是优化器更新不需要全局同步",
  "first start to last end": "从最早开始到最晚结束",
  "twice the warm-up and one more": "两倍预热个数再加一",
  "arXiv 2411.05288: S and T are work that all ranks share, and the barriers hide behind the forwards run ahead":
    "arXiv 2411.05288：S 与 T 由所有 rank 分担，屏障被提前执行的前向掩盖",
  "one more for each barrier": "每个屏障多一个",
  "in step: half as many again": "同步推进：再多一半",

  // what options do
  "the last stage has the whole output layer": "整个输出层在最后一个阶段",
  "the last stage has the whole output layer and fewer transformer layers":
    "整个输出层在最后一个阶段，该阶段的 Transformer 层相应减少",
  "a shard on every rank, two barriers": "每个 rank 一个分片，两道屏障",
  "a shard on every rank, one barrier": "每个 rank 一个分片，一道屏障",
  "a shard on every rank, all ranks at the same time": "每个 rank 一个分片，所有 rank 同时执行",
  "every activation stays on the device": "所有激活值都留在设备上",
  "the first half of a device's chunks, whose activations live longest, go to host memory":
    "设备上前一半分块的激活值（生存期最长）卸载到主机内存",
  "the activations of all chunks go to host memory": "所有分块的激活值都卸载到主机内存",
};
