// The tabs of charts and building blocks.

import type { Catalogue } from "../../language.ts";

export const CHARTS: Catalogue = {
  // block.ts
  ["Strong: one micro-batch, k. Faint: those before and after it, a period apart; together they fill every slot. " +
  "Bars: how long a device keeps the activations, from F to the end of W."]:
    "深色：一个微批次 k。浅色：它前后的微批次，彼此相隔一个周期；合起来填满每个时隙。横条：设备保留激活值的时间，从 F 开始到 W 结束。",
  ["A building block is one micro-batch's ops on all devices, repeated at a constant interval; the memory follows " +
  "from it."]: "构件是一个微批次在所有设备上的 op，以恒定的间隔重复；由此可得显存。",
  "Loading the building block …": "正在加载构件 …",
  "Try again": "重试",
  "A slot is one op of a chunk; here F, I and W take one each.":
    "这里一个时隙是一个分块的一个 op；F、I、W 各占一个时隙。",
  "A slot is one op of a device; here F, I and W take one each.":
    "这里一个时隙是一个设备的一个 op；F、I、W 各占一个时隙。",
  "{title}: memory of each device": "{title}：每个设备的显存",
  "Building blocks of up to {most} devices are drawn.": "最多画出 {most} 个设备的构件。",
  "Show p = {p}": "显示 p = {p}",
  "These have one:": "以下调度族有构件：",
  "Every slot as a table": "以表格列出每个时隙",
  // draw.ts
  "period {slots} slots": "周期 {slots} 个时隙",
  "building block": "构件",
  "{title}: one micro-batch's ops. Left and right step along a rank, up and down between ranks.":
    "{title}：一个微批次的 op。左右方向键沿 rank 移动，上下方向键切换 rank。",
  // table.ts
  "1 micro-batch": "1 个微批次",
  "{worth} micro-batches": "{worth} 个微批次",
  "most at once: {peak} chunks = {micro}": "同时最多：{peak} 个分块 = {micro}",
  "most at once: {micro}": "同时最多：{micro}",
  "{most}; 1F1B holds p = {p}": "{most}；1F1B 保留 p = {p} 个",
  "{title}: for how many slots each device keeps a micro-batch's activations, over the period":
    "{title}：每个设备保留一个微批次激活值的时隙数，除以周期",
  device: "设备",
  "slots kept": "保留的时隙",
  "/ period = chunks": "/ 周期 = 分块数",
  "slots / period = chunks": "时隙 / 周期 = 分块数",
  peak: "峰值",
  "{kind}, chunk {chunk}": "{kind}，分块 {chunk}",
  "{title}: the slot in which each op of micro-batch k starts; the next one's is {period} later":
    "{title}：微批次 k 的每个 op 开始的时隙；下一个微批次晚 {period} 个时隙",
  // charts.ts
  "Ops in the order of time": "按时间顺序列出 op",
  "Even one micro-batch has more ops here than the {most} that a cube can show.":
    "这里即使只有一个微批次，op 也比立方图能显示的 {most} 个多。",
  "Drawing …": "正在绘制 …",
  "Drawing the first chart …": "正在绘制第一张图 …",
  "Searching for the best order at each memory limit …": "正在搜索每种显存上限下的最优执行顺序 …",
  "Search results are not shown: {why}": "搜索结果无法显示：{why}",
  "Use {field} = {value}": "改用 {field} = {value}",
  "by stage": "逐阶段",
  // choice.ts
  Chart: "图",
  Charts: "图表",
  "What is drawn": "画什么",
  // cube.ts
  cube: "立方图",
  ["The schedule as a cube: time to the right, stages into the depth, micro-batches upward. Arrow keys turn it. " +
  "The table has every op."]: "立方图中的调度：时间向右，阶段向纵深，微批次向上。方向键旋转。表格列有每个 op。",
  "{op}: stage {stage}, micro-batch {micro}, rank {rank}, from {start} to {end}.":
    "{op}：阶段 {stage}，微批次 {micro}，rank {rank}，从 {start} 到 {end}。",
  op: "op",
  rank: "rank",
  stage: "阶段",
  "micro-batch": "微批次",
  "unit of the costs": "代价的单位",
  ["Every box is an op: time to the right, stages into the depth, micro-batches upward. Grey on the floor is idle " +
  "time."]: "每个方块是一个 op：时间向右，阶段向纵深，微批次向上。底面上的灰色是空闲时间。",
  "A dot is a message from stage to stage.": "圆点是阶段之间的消息。",
  ["Drag or use the arrow keys to turn it; play the timeline and its moment sweeps through as a plane. A click " +
  "selects the op."]: "拖动或用方向键旋转；播放时间线时，当前时刻像一个平面扫过。点击可选中 op。",
  "{shown} of {all} micro-batches are drawn, the first of each direction: more ops could not be told apart.":
    "只画出 {all} 个微批次中的 {shown} 个，即每个方向最前面的：再多就分辨不清了。",
  "{shown} of {all} micro-batches are drawn, the first: more ops could not be told apart.":
    "只画出 {all} 个微批次中的前 {shown} 个：再多就分辨不清了。",
  // cube_paint.ts
  "time, in the unit of the costs": "时间，单位与代价相同",
  // figure.ts
  chart: "图",
  "{title}. Left and right step from point to point, Enter puts one on the timeline, Shift and Enter under it.":
    "{title}。左右方向键在点之间移动，Enter 把它放上时间线，Shift 加 Enter 放在其下。",
  // kinds.ts
  "Busiest device's window, share of time": "最忙设备的窗口，占时间",
  "Whole step, share of time": "整个训练步，占时间",
  "Busiest device's window, against work": "最忙设备的窗口，比工作",
  "Whole step, against work": "整个训练步，比工作",
  Bubble: "气泡",
  "Bubble over p and m": "气泡随 p 与 m 的变化",
  "Over p and m": "随 p 与 m",
  "one family at every size": "同一调度族的各种规模",
  "Bubble against m": "气泡随 m 的变化",
  "Against m": "随 m",
  "all families, more and more micro-batches": "所有调度族，微批次逐渐增多",
  "Useful and wasted time": "有用与浪费的时间",
  "Useful and wasted": "有用与浪费",
  "where every rank's time goes": "每个 rank 的时间用在哪里",
  Memory: "显存",
  "Memory against throughput": "显存与吞吐量",
  "Against throughput": "与吞吐量",
  "which schedule is best at which memory": "给定显存下哪个调度最好",
  Throughput: "吞吐量",
  "Memory over time": "显存随时间的变化",
  "Over time": "随时间",
  "activations that each rank holds": "每个 rank 保留的激活值",
  "Offload: k against hidden size and sequence": "卸载：k 随隐藏维度与序列长度的变化",
  "Offload: k": "卸载：k",
  "when copies to host memory are free": "何时拷贝到主机内存没有代价",
  "Guide's rates": "指南中的速率",
  "This machine": "这台机器",
  "Work and messages": "工作与消息",
  "Stage, micro-batch and time": "阶段、微批次与时间",
  Cube: "立方图",
  "the schedule in space, with the playhead as a plane": "空间中的调度，播放头是一个平面",
  "Messages against v": "消息数随 v 的变化",
  Messages: "消息",
  "what more chunks cost in communication": "分块增多带来的通信代价",
  "Output layer of known models": "已知模型的输出层",
  "Output layer": "输出层",
  "how many transformer layers it weighs": "相当于多少个 Transformer 层",
  // panel.ts
  "Save the chart": "保存图表",
  "Points of the chart": "图中的点",
  "The numbers as a table": "数字表格",
  "The figure as a picture": "图片",
  // row_table.js
  "The first {shown} of {all} rows; the CSV has all of them.": "共 {all} 行，显示前 {shown} 行；CSV 中有全部。",
  "Show it on the timeline": "显示在时间线上",
  // frontier_search.js
  "Search {seconds} s for a better order at each memory limit":
    "在每种显存上限下各搜索 {seconds} 秒，寻找更好的执行顺序",
  Stop: "停止",
  "Search longer": "继续搜索",
  "{family} within {memory}: {at} of {all}": "{family}，显存 {memory} 以内：{at} / {all}",
  "Searched at every memory limit.": "每种显存上限都已搜索。",
  // point_table.js
  memory: "显存",
  throughput: "吞吐量",
  "share of what a pipeline without bubbles reaches": "与没有气泡的流水线相比",
  "idle share of the busiest device's window, from its own first start to its last end":
    "最忙设备窗口（从其自身最早开始到最晚结束）内的空闲占比",
  "dominated by": "劣于",
  "a schedule that needs no more memory and is faster, or less memory and is as fast":
    "显存不多而更快，或显存更少而同样快",
  "The points of the chart, from the least memory to the most": "图中的点，显存从少到多",
  schedule: "调度",
  "{name} as schedule {letter}": "把 {name} 作为调度 {letter}",
  "Remove schedule {letter}": "去掉调度 {letter}",
  "Add it as schedule {letter}": "作为调度 {letter} 添加",
  // core/drawing/building_block.ts
  recomputation: "重计算",
  "With m = {m} the last micro-batch begins before the first is done, so this steady state is not reached.":
    "m = {m} 时，第一个微批次尚未完成，最后一个就已开始，因此达不到这里的稳态。",
  " and ": "与",
  "Chunks are counted whole here; with {options} a device keeps less of each.":
    "这里按完整的分块计算；使用{options}时设备为每个分块保留得更少。",
  ["The spread output layer is left out: its passes S and T, and the micro-batches further ahead that hide its " +
  "barriers."]: "分摊到各设备的输出层没有画出：它的 S 与 T，以及为掩盖其屏障而更早开始的微批次。",
  "Of the schedule with backwards: a forward-only one has the forwards of this block alone.":
    "这是含反向的调度的构件：仅前向的调度只有其中的前向。",
  "Forward (F)": "前向 (F)",
  "Input gradient (I)": "输入梯度 (I)",
  "Weight gradient (W)": "权重梯度 (W)",
  "Full backward (B = I + W)": "完整反向 (B = I + W)",
  "Rank {rank}, chunk {chunk}": "rank {rank}，分块 {chunk}",
  "Rank {rank}": "rank {rank}",
  ["{place} keeps the activations of micro-batch k for {slots} slots, from the start of F at {from} to the end of " +
  "W at {to}."]: "{place} 保留微批次 k 的激活值 {slots} 个时隙，从 {from} 处 F 开始到 {to} 处 W 结束。",
  "on rank {rank}, chunk {chunk}, stage {stage}": "在 rank {rank}、分块 {chunk}、阶段 {stage}",
  "on rank {rank}, stage {stage}": "在 rank {rank}、阶段 {stage}",
  "takes activations that are kept until {end}, for {slots} slots": "产生的激活值保留到 {end}，共 {slots} 个时隙",
  "the activations stay for W, which ends at {end}": "激活值留给 W，后者于 {end} 结束",
  "gives back the activations that were kept for {slots} slots": "释放保留了 {slots} 个时隙的激活值",
  "{name} of micro-batch {micro} {where}: slots {at} and {next}; {tail}.":
    "微批次 {micro} 的{name}，{where}：时隙 {at} 与 {next}；{tail}。",
  "{name} of micro-batch {micro} {where}: slot {at}; {tail}.": "微批次 {micro} 的{name}，{where}：时隙 {at}；{tail}。",
  // core/drawing/chart_points.ts
  "at p {p}, m {m}": "p {p}、m {m}",
  "on the line": "在前沿上",
  "drawn {where}, not ranked": "按{where}画出，不参与排名",
  "none is better": "没有更好的",
  "{schedule} is better": "{schedule} 更好",
  "{schedule}: memory {memory} micro-batches, throughput {throughput} %, bubble {bubble} % of the step; {standing}.":
    "{schedule}：显存 {memory} 个微批次，吞吐量 {throughput} %，气泡占训练步的 {bubble} %；{standing}。",
  "MFU against memory": "MFU 与显存",
  "MFU against activations": "MFU 与激活值",
  "Tokens per second against memory": "每秒 token 数与显存",
  "in bytes": "字节",
  "Plots of Qi et al. 2024, arXiv 2405.15362:": "Qi 等，2024，arXiv 2405.15362 的图：",
  "{model} on {p} devices": "{model}，{p} 个设备",
  ["Models, devices and machine of the paper. Micro-batch 1, two micro-batches a device and 45 % efficiency are " +
  "assumed."]: "模型、设备数与机器取自论文。微批次大小 1、每个设备两个微批次与 45 % 的效率为假定值。",
};
