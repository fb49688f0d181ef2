// The diagnosis tab, and how files come to it.
export const DIAGNOSIS: Record<string, string> = {
  Diagnosis: "诊断",
  "Why is it slow?": "为什么慢？",
  "measured ops": "实测的 op",
  "Why is my step slow?": "我的训练步为什么慢？",
  ["Open the traces of a real step: of torch's profiler, one file for each rank, a production timeline, " +
  "Megatron's timers, OpenTelemetry spans, or a table with rank, kind, micro-batch, start and end. What it " +
  "loses to each cause is said here, and what a repair would save."]:
    "打开一个真实训练步的 trace：torch 的 profiler（每个 rank 一个文件）、生产环境的时间线、Megatron 的计时器、" +
    "OpenTelemetry span，或含 rank、kind、micro-batch、start 和 end 的表格。这里会说明它因各种原因损失多少时间，" +
    "以及修复可节省多少。",
  "Open a trace …": "打开 trace …",
  "Open another trace …": "打开另一个 trace …",
  "Put this step on the timeline": "把这个训练步放到时间线上",
  "Diagnose the run on the screen": "诊断屏幕上的运行",
  "Diagnose the schedule on the screen": "诊断屏幕上的调度",
  "the screen": "屏幕",
  "Show {op}": "显示 {op}",
  "What each repair alone saves of the step": "单独修复每一项可节省的训练步份额",
  "Each rank's time in a step, by cause": "每个 rank 在一个训练步中的时间，按原因分",
  "As a table, in ms": "以表格显示（ms）",
  "How slow each worker alone makes the step, up to {most}: ranks down, replicas across":
    "每个设备单独使训练步变慢多少，最多 {most}：行为 rank，列为副本",
  "rank {rank} of replica {replica} alone: {slow} times": "仅副本 {replica} 的 rank {rank}：{slow} 倍",
  cause: "原因",
  "{cause}: {ms} ms": "{cause}：{ms} ms",
  "{steps} steps of {replicas} replicas": "{replicas} 个副本的 {steps} 个训练步",
  "{count} files": "{count} 个文件",
  "step {ms} ms": "训练步 {ms} ms",
  "bubble {share}": "气泡 {share}",
  "replayed op by op: {share} of the measured time": "逐 op 重放：实测时间的 {share}",
  "an order of its own": "自有的执行顺序",
  "an order of its own, nearest {title}: op {index} of rank {rank} is {here}, there {there}":
    "自有的执行顺序，最接近 {title}：rank {rank} 的第 {index} 个 op 是 {here}，那里是 {there}",
  work: "工作",
  "fill and drain": "填充与排空",
  dependency: "依赖",
  "uneven stages": "阶段不均",
  "slow workers": "慢设备",
  "micro-batches that differ": "微批次大小不一",
  jitter: "抖动",
  messages: "消息",
  "slow links": "慢链路",
  "messages behind others": "排在其他消息之后的消息",
  "launch overhead": "启动开销",
  pauses: "停顿",
  "waiting for replicas": "等待副本",
  "tail of the step": "训练步的收尾",
  unexplained: "未解释",
  "all together": "全部一起",

  Steps: "训练步",
  Replicas: "副本",
  "step {ms} ms, from {least} to {most}": "训练步 {ms} ms，从 {least} 到 {most}",
  "An example": "示例",
  "Plan this training": "规划这个训练",
  "Move layers between stages": "在阶段之间移动层",
  "Layers of a stage, or of each with commas, or Megatron's layout":
    "每个阶段的层数，或以逗号分隔的各阶段层数，或 Megatron 的布局",
  "Find a split": "寻找划分",
  "No other split is found that is faster.": "没有找到更快的划分。",
  "Layers {after} in place of {before} save {share} of the step. Memory is not looked at.":
    "以层数 {after} 代替 {before} 可节省训练步的 {share}。未考虑内存。",
  "Put the step with this split on the timeline": "把这样划分的训练步放到时间线上",
  "Show a cause alone": "只显示一个原因",
  "Show where": "显示位置",
  "Show the longest, before {op}": "显示最长的一处，在 {op} 之前",
  "Where ranks wait, in step {step} of replica {replica}: {ms} ms":
    "副本 {replica} 第 {step} 步中各 rank 在何处等待：{ms} ms",
  "Where ranks wait, in step {step}: {ms} ms": "第 {step} 步中各 rank 在何处等待：{ms} ms",
  "Rank {rank} waits {ms} ms before {op} ({why})": "rank {rank} 在 {op} 之前等待 {ms} ms（{why}）",
  "Rank {rank} waits {ms} ms after its last op ({why})": "rank {rank} 在最后一个 op 之后等待 {ms} ms（{why}）",
  "{cause}: {ms} ms in {count} waits of this step, all ranks together.":
    "{cause}：本步所有 rank 共有 {count} 处等待，合计 {ms} ms。",
  "{cause}: no wait of this step.": "{cause}：本步没有这种等待。",
  "Beside the ops, in ms": "op 以外的用时（ms）",
  "What a rank does in a step beside its ops, the longest first": "每个 rank 在一步中除 op 以外的工作，最长的在前",
  name: "名称",
  "ms of a step": "一步中的 ms",
  "Compare schedules at these costs": "在这些耗时下比较各种调度",
  "Search an order at these costs": "在这些耗时下搜索顺序",
  "Find the best order of entry": "寻找最佳的进入次序",

  // The configuration of a training framework.
  "Training framework": "训练框架",
  Configuration: "配置",
  "in place of the whole view, with its model": "替换整个视图，连同其模型",
  "the configuration of a training": "一次训练的配置",
  "frameworks that run it; the tab Export has the configuration of each":
    "能运行它的训练框架；各自的配置见“导出”标签页",
};
