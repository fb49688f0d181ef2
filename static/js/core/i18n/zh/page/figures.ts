// Figures, laws, search, and the comparison.

export const FIGURES = {
  "Run both schedules": "运行两个调度",
  "Schedules on the screen against the first": "屏幕上的各调度与第一个相比",
  Comparison: "对比",
  "Choose a family to compare.": "请选择要比较的调度族。",
  "Simulating every family …": "正在仿真每个调度族 …",
  "Add a schedule to compare": "添加一个调度进行比较",
  ", or click a row.": "，或点击一行。",
  " to compare it.": "，与之比较。",
  "full (B)": "完整 (B)",
  "split (I, W)": "拆分 (I, W)",
  both: "两者兼有",
  "idle share of the step, from the first start to the last end": "空闲占整个训练步的比例，从最早开始到最晚结束",
  "idle time over work, from the first start to the last end": "空闲时间除以工作时间，从最早开始到最晚结束",
  "bubble, busiest device": "气泡，最忙设备",
  "idle time over work in the busiest device's window": "最忙设备窗口内空闲时间除以工作时间",
  "first start to last end": "从最早开始到最晚结束",
  "busiest device's window": "最忙设备的窗口",
  "from the busiest device's own first start to its last end": "从最忙设备自身最早开始到最晚结束",
  "on the device with the most, in one micro-batch's activations": "占用最多的设备，以一个微批次的激活值为单位",
  "{family} holds {held}, over the limit of {limit}.": "{family} 占用 {held}，超出上限 {limit}。",
  "chunks whose activations the worst device holds at once; a chunk is a v-th of a device's share":
    "占用最多的设备同时保留激活值的分块数；一个分块是设备份额的 v 分之一",
  weights: "权重",
  "copies of its own share of the parameters that the worst device holds": "占用最多的设备持有的自身参数份数",
  "Weights: {why}.": "权重：{why}。",
  messages: "消息数",
  "between devices in a step; each carries one micro-batch's activation, so bytes grow alike":
    "每个训练步内设备间的消息数；每条携带一个微批次的激活值，字节数按同样比例增长",
  technique: "技术",
  "what it does": "它做什么",
  backward: "反向",
  "I and W in one (B) or apart": "I 与 W 合一 (B) 或分开",
  order: "执行顺序",
  "how its order is described": "其执行顺序如何描述",
  "used by": "使用者",
  "who trains with it": "谁用它训练",
  year: "年份",
  "first published": "首次发表",
  All: "全部",
  "Those on the screen": "屏幕上的",
  "All {count} families": "全部 {count} 个调度族",
  "{count} of {all} families": "{all} 个调度族中的 {count} 个",
  "Families at p {p}, m {m}": "p {p}、m {m} 时的调度族",
  "name of the family": "调度族名称",
  claimed: "论文声称",
  "what papers claim, asymptotically": "论文给出的渐近结论",
  "The first schedule on the screen": "屏幕上的第一个调度",
  "Take it off the screen": "从屏幕上去掉",
  "Put it on the screen": "放到屏幕上",
  "{family}: {text}.": "{family}：{text}。",
  auto: "自动",
  adjusted: "已调整",
  "{family}, bubble": "{family}，气泡",
  "{family}, memory": "{family}，显存",
  "They differ in devices or micro-batches, so their times are for different work.":
    "它们的设备数或微批次数不同，因此时间对应的工作量不同。",
  "All take the same time": "全部耗时相同",
  "Both take the same time": "两者耗时相同",
  "{fast} takes {share} less time than {slow}": "{fast} 比 {slow} 少用 {share} 的时间",
  "the peak memory is the same": "峰值显存相同",
  "{light} holds {less} micro-batches' activations less at its peak than {heavy}":
    "{light} 的峰值比 {heavy} 少 {less} 个微批次的激活值",
  "{time}; {memory}.": "{time}；{memory}。",
  "settings changed": "改动的设置",
  "against A": "与 A 相比",
  "Against work": "比工作",
  "Idle time over work, from the first start to the last end.": "空闲时间除以工作时间，从最早开始到最晚结束。",
  "Busiest device": "最忙设备",
  "Idle share of its own window, first start to last end, as the zero-bubble papers count.":
    "其自身从最早开始到最晚结束的窗口内的空闲占比，零气泡论文即如此计。",
  "Busiest device, against work": "最忙设备，比工作",
  "Idle time over work in that window.": "该窗口内空闲时间除以工作时间。",
  "More figures": "更多数据",
  "Other definitions of the bubble": "气泡的其他定义",
  "Bubble, textbook formula": "气泡，教科书公式",
  "idle ÷ all time": "空闲 ÷ 全部时间",
  "idle ÷ work": "空闲 ÷ 工作",
  "Step time": "单步时间",
  "Busiest device's window": "最忙设备的窗口",
  "per unit of time": "每单位时间",
  "micro-batches per second": "每秒微批次数",
  "of ideal throughput": "占理想吞吐量",
  "Peak memory": "峰值显存",
  "micro-batches": "微批次",
  "Peak in flight": "在途峰值",
  "per step": "每步",
  "What B means here": "B 在这里的含义",
  Figure: "数据",
  "Whole step": "整个训练步",
  "Whole step, {unit}": "整个训练步，{unit}",
  ["Every backward updates the weights at once: nothing is drained between steps, where 1F1B flushes and pays its " +
  "bubble once a step. The price: stage s keeps p − s weight versions, and its gradients are up to p − 1 − s " +
  "updates late, so the training is no longer plain SGD."]:
    "每次反向后立即更新权重：步与步之间不排空，而 1F1B 每步都要冲刷并付出一次气泡。代价是：阶段 s 要保留 p − s 个权重版本，其梯度最多陈旧 p − 1 − s 次更新，因此训练不再是普通的 SGD。",
  "There is no B: the schedule has forwards only, as in inference.": "没有 B：该调度只有前向，如同推理。",
  "Bubble with more micro-batches": "更多微批次时的气泡",
  "Micro-batches": "微批次",
  "of the step": "占一步",
  "of the work": "与工作量之比",
  "By this formula. With very many devices m = {times}p gives {step} of the step, {work} of the work.":
    "按此公式。设备非常多时，m = {times}p 的气泡占一步的 {step}，为工作量的 {work}。",
  "What crosses the boundaries": "跨越边界的内容",
  "One device: nothing crosses a boundary.": "只有一个设备：没有内容跨越边界。",
  "Each boundary between two devices takes m = {m} messages per step: the activations of every micro-batch.":
    "两个设备之间的每个边界每步有 m = {m} 条消息：每个微批次的激活值。",
  ["Each boundary between two devices takes m = {m} messages per step in each direction (not m + p − 1, which " +
  "counts time slots): activations forward, gradients back."]:
    "两个设备之间的每个边界每步在每个方向上有 m = {m} 条消息（不是 m + p − 1，那是时隙数）：激活值向前，梯度向后。",
  "One is 2·b·s·h = {each}, so {all} per step and direction.": "每条为 2·b·s·h = {each}，因此每步每个方向共 {all}。",
  "One is 2·b·s·h bytes in 16-bit precision; choose a model to see how many.":
    "在 16 位精度下每条为 2·b·s·h 字节；选择一个模型即可看到具体数值。",
  ["A micro-batch takes {all} messages, where one chunk per device takes {one}: {ratio} times as many, more than " +
  "v = {v}, because {back} of them link the last device with the first, from one chunk to the next."]:
    "一个微批次需要 {all} 条消息，而每设备一个分块时需要 {one} 条：是其 {ratio} 倍，多于 v = {v}，因为其中 {back} 条在换到下一个分块时连接最后一个设备与第一个设备。",
  ["A micro-batch takes {n} messages over {boundaries} boundaries: {turns} of these lie between two stages of one " +
  "device, where the V turns, and take none. One chunk per device takes {line}."]:
    "一个微批次跨越 {boundaries} 个边界，需要 {n} 条消息：其中 {turns} 个边界在同一设备的两个阶段之间（V 的折返处），不需要消息。每设备一个分块时需要 {line} 条。",
  "A micro-batch takes {n} messages.": "一个微批次需要 {n} 条消息。",
  "Forward only: there are no gradients to send or to sum.": "仅前向：没有要发送或求和的梯度。",
  ["Every stage is on two devices, such as {one} and {other}, which sum its gradients once per step: an all-reduce " +
  "between replicas."]: "每个阶段都在两个设备上（例如 {one} 与 {other}），每步对梯度求和一次：副本之间的 all-reduce。",
  "Each device sums {bytes} of gradients.": "每个设备对 {bytes} 的梯度求和。",
  ["Gradients are not all-reduced between stages: each stage has its own parameters. Only data-parallel replicas of " +
  "one stage sum theirs."]:
    "阶段之间不对梯度做 all-reduce：每个阶段有自己的参数。只有同一阶段的数据并行副本才对梯度求和。",
  ["The output layer is sharded: each micro-batch also takes a broadcast of the last stage's output and {n} over all " +
  "devices."]: "输出层已切分：每个微批次还需要广播最后一个阶段的输出，以及在所有设备上的{n}。",
  "one all-reduce": "一次 all-reduce",
  "two all-reduces": "两次 all-reduce",
  "What is proved, and how": "证明了什么，如何证明",
  ["The certificate is a lower bound: at these costs and within this memory, no order of the same stages has a " +
  "shorter window of its busiest device. If the order reaches the bound, it is proved optimal; if not, the gap is " +
  "the most that any order could still gain."]:
    "证书是一个下界：在这些耗时和这一显存之内，相同阶段的任何顺序，最忙设备的时间窗都不会更短。若该顺序达到下界，即证明为最优；否则差距就是最多还能改进的量。",
  ["The paper states the problem as an integer linear program (ILP). A solver proves its orders optimal, but only " +
  "for few devices and micro-batches. Bubbleline builds orders, improves them by simulated annealing, and " +
  "compares them with bounds that hold at any size (docs/search.md)."]:
    "论文把该问题表述为整数线性规划（ILP）。求解器能证明其顺序为最优，但只适用于少量设备与微批次。Bubbleline 构造执行顺序，用模拟退火改进，并与适用于任何规模的下界比较（docs/search.md）。",
  "B is the full backward pass, input and weight gradient in one op: b = i + w.":
    "B 是完整反向，输入梯度与权重梯度在一个 op 中：b = i + w。",
  ["the backward pass is split into I (input gradient) and W (weight gradient). The zero-bubble papers write B " +
  "for this I; here B would mean both, b = i + w."]:
    "反向拆分为 I（输入梯度）与 W（权重梯度）。零气泡论文把这里的 I 写作 B；在本页 B 表示两者之和，b = i + w。",
  ["The backward pass is split into I (input gradient) and W (weight gradient). The zero-bubble papers write B " +
  "for this I; here B would mean both, b = i + w."]:
    "反向拆分为 I（输入梯度）与 W（权重梯度）。零气泡论文把这里的 I 写作 B；在本页 B 表示两者之和，b = i + w。",
  ["B is the full backward pass as in DeepSeek's papers, b = i + w; where it is split, I is the input gradient " +
  "and W the weight gradient."]: "B 与 DeepSeek 论文一致，是完整反向，b = i + w；拆分时 I 为输入梯度，W 为权重梯度。",
  "idle per device": "每个设备空闲",
  barriers: "屏障数",
  "{family} has no closed formula; the times come from the simulation.": "{family} 没有闭式公式；时间由仿真给出。",
  if: "若",
  otherwise: "其他",
  "matches the simulation": "与仿真一致",
  "equals the simulation here": "此处与仿真相等",
  "differs from the simulation": "与仿真不同",
  "approximate here": "此处为近似",
  "The simulation gives {value}.": "仿真结果为 {value}。",
  "Peak, chunks in flight on the worst rank": "峰值，占用最多的 rank 上的在途分块数",
  "Idle time per device, busiest device's window": "每个设备的空闲时间，最忙设备的窗口",
  "Idle time per device, whole step": "每个设备的空闲时间，整个训练步",
  "Step time, busiest device's window": "单步时间，最忙设备的窗口",
  "Step time, first start to last end": "单步时间，从最早开始到最晚结束",
  "over the limit": "超出上限",
  "within the limit": "在上限之内",
  "{family}: holds {held}, may hold {limit}: {verdict}": "{family}：占用 {held}，上限 {limit}：{verdict}",
  "holds {held}, may hold {limit}: {verdict}": "占用 {held}，上限 {limit}：{verdict}",
  "Time of the search": "搜索用时",
  "Search {seconds} s": "搜索 {seconds} 秒",
  "{seconds} s": "{seconds} 秒",
  Certificate: "最优性证明",
  "Keep searching while idle": "空闲时持续搜索",
  optimal: "最优",
  "{gap} above the bound": "比下界高 {gap}",
  "In no order is the busiest device's window shorter than {bound}: {why}. In this one it is {span}.":
    "任何执行顺序的最忙设备窗口都不短于 {bound}：{why}。此处为 {span}。",
  "Queued: {count} before this one.": "排队中：前面还有 {count} 个。",
  "Starting …": "正在开始 …",
  "{seconds} s, {count} orders simulated, {better} improvements.":
    "{seconds} 秒，已仿真 {count} 个执行顺序，{better} 次改进。",
  "Constructed without a search; no order is better.": "未经搜索直接构造；没有更好的次序。",
  "Constructed without a search; a search may find a better order. It starts after the next change.":
    "未经搜索直接构造；搜索或许能找到更好的次序。下一次更改之后自动开始。",
  "Constructed without a search; a search may find a better order.":
    "由构造直接得到，未经搜索；搜索可能找到更好的执行顺序。",
  "Found among {count} orders (seed {seed}). The link gives the same order again.":
    "在 {count} 个执行顺序中找到（随机种子 {seed}）。链接会再次给出同一执行顺序。",
  "its idle ÷ work": "其空闲 ÷ 工作",
  "of {limit}": "共 {limit}",
  "Tokens per second": "每秒 token 数",
  "Peak activations": "激活值峰值",
  "model FLOP utilisation: the model's FLOP over what the devices could compute, without recomputation":
    "模型 FLOP 利用率：模型的 FLOP 与设备可计算量之比，不计重计算",
  "tokens / s": "token / 秒",
  "tokens of all replicas in a second": "所有副本每秒的 token 数",
  "tokens / s, busiest device": "token / 秒，最忙设备",
  "tokens of all replicas in a second of the busiest device's window, outside of which steps may overlap":
    "在最忙设备的窗口内所有副本每秒的 token 数；窗口之外，前后两步可以重叠",
  "Tokens per second, busiest device": "每秒 token 数，最忙设备",
  memory: "显存",
  "weights, gradients, optimizer and activations on the device with the most":
    "占用最多的设备上的权重、梯度、优化器与激活值",
  fits: "放得下",
  "whether every device has enough memory": "每个设备的显存是否足够",
  yes: "是",
  no: "否",
  "Save the table:": "保存表格：",
  "model FLOP ÷ peak": "模型 FLOP ÷ 峰值",
};
