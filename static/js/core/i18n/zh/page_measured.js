// What a run is asked for, several runs side by side, and how far a run is from its plan.

/** @type {import("../language.js").Catalogue} */
export const MEASURED = {
  // options.js
  automatic: "自动",
  Unit: "单位",
  "How long one unit of the costs lasts in a paced run": "按节拍运行时，代价的一个单位持续多久",
  Numbers: "数值类型",
  Steps: "训练步",
  "Training steps with an optimizer; the last one is drawn and measured": "带优化器的训练步；绘制并测量最后一步",
  Seed: "随机种子",
  "What the model and its data are made from": "模型与数据由它生成",
  "Options of the next run": "下一次运行的选项",
  "A free run has no pace": "自由运行没有节拍",
  "Here every micro-batch is a training step already": "这里每个微批次已是一个训练步",
  "Where every rank has a GPU of its own, a run is one step": "每个 rank 独占一块 GPU 时，一次运行只有一个训练步",
  // core/measured/devices.js
  "{gpus} × {name} shared by {p} ranks, threads of one process: {mode}":
    "{gpus} × {name}，由 {p} 个 rank 作为同一进程的线程共用：{mode}",
  "free; ranks that share a GPU hold each other up.": "自由；共用一块 GPU 的 rank 会互相拖慢。",
  "GPU: none here": "GPU：此处没有",
  // panel.js, run_view.js, start.js
  "One after the other on the same workers, each drawn under its plan":
    "在同一组 worker 上依次运行，各自画在其计划之下",
  "Run all {n} schedules": "运行全部 {n} 个调度",
  "Use {value}": "使用 {value}",
  // compare.js
  " one after the other and compare the measurements.": "，依次进行并比较实测结果。",
  // side_by_side.js
  "Cancel all": "全部取消",
  "bubble by span": "跨度气泡",
  predicted: "预测",
  "off by": "相差",
  "Runs on the timeline, predicted against measured": "时间线上的运行，预测与实测对照",
  "What the simulator makes of the times that the ops had": "按 op 的实测时间仿真所得",
  "makespan at the costs it had": "按其实测代价的总时长",
  // figures.js
  "Measured peak": "实测峰值",
  "in the run": "运行中",
  // facts.js
  "{n} steps": "{n} 步",
  "seed {n}": "种子 {n}",
  "Loss of each step": "各训练步的损失",
  "largest error {error}, {most} allowed": "最大误差 {error}，允许 {most}",
  "Predicted at the costs it had": "按其实测代价的预测",
  "{share} against measured": "与实测相比 {share}",
  "{share} with each op's own time": "按每个操作各自的时间则为 {share}",
  "planned {n} micro-batches, so {bytes} each": "计划为 {n} 个微批次，即每个 {bytes}",
  // residuals.js
  "Farthest from the plan at their end": "结束时离计划最远",
  "Lost the most by themselves": "自身耽搁最多",
  // overlay_toggles.js, highlight_legend.js, planned_outline.js, core/state/link.js
  "Under each measured op, thin, where the plan had it (O)": "在每个实测 op 之下，以细条标出计划中的位置 (O)",
  "Show the plan under it": "在其下显示计划",
  "Colours measured ops by how much later or earlier than planned they ended (R)":
    "按比计划晚或早结束多少为实测 op 着色 (R)",
  "Colour by lateness": "按延迟着色",
  "where the plan had the ops of a run: show and hide": "运行的 op 在计划中的位置：显示与隐藏",
  "the ops of a run by how late they were: on and off": "按延迟为运行的 op 着色：开与关",
  "below it: its plan": "其下：计划",
  "{full} early to {full} late": "早 {full} 到晚 {full}",
  "planned; {time} late": "计划；晚 {time}",
  "planned; {time} early": "计划；早 {time}",
  "1 for where the plan had measured ops": "1 表示显示实测 op 在计划中的位置",
  "1 for measured ops coloured by how late they were": "1 表示按延迟为实测 op 着色",
  // after.js
  "Bubble by the global window {a} predicted and {b} measured, by the span {c} and {d}.":
    "全局窗口的气泡预测 {a}、实测 {b}；跨度窗口为 {c} 与 {d}。",
  // core/measured/waits.js
  "messages and wake-ups that came late": "迟到的消息与唤醒",
  "Measured: {list}.": "实测：{list}。",
  // card_details.js
  " Received {received}, sent {sent}; activations alive after it: {live}.":
    "接收 {received}，发送 {sent}；之后存活的激活值：{live}。",
  copied: "拷贝了",
  "waited for messages": "等待消息",
  received: "接收",
  "activations alive after it": "之后存活的激活值",
  "Gradient, {bytes}": "梯度，{bytes}",
  "Activation, {bytes}": "激活值，{bytes}",
  posted: "投递",
  asked: "请求",
  taken: "取得",
  "{giver} on rank {from} to {taker} on rank {to}": "rank {from} 上的 {giver} 发往 rank {to} 上的 {taker}",
  "It had come by the time rank {rank} asked for it, {since} ms after it was posted.":
    "发出 {since} ms 后 rank {rank} 请求它时，它已经到达。",
  "Rank {rank} waited {waited} ms for it, of which it was {flight} ms on its way.":
    "rank {rank} 为它等待了 {waited} ms，其中 {flight} ms 它在途中。",
  "Rank {rank} asked for it while it was on its way, and waited {waited} ms.":
    "rank {rank} 在它途中时请求它，等待了 {waited} ms。",
  "of activations, measured, from {from} to {to}; the most after an op is {most}":
    "激活值，实测，从 {from} 到 {to}；op 结束后的最大值为 {most}",
  "The line is what the plan counts: {counted} here, where 1 is drawn as high as {one}.":
    "线条是计划所计的量：此处为 {counted}，其中 1 与 {one} 画得一样高。",
  // device_list.js
  "Devices of this server": "此服务器的设备",
  "{n} cores": "{n} 个核",
  "compute capability {version}": "计算能力 {version}",
  name: "名称",
  "total memory": "总内存",
  ranks: "rank 数",
  "runs on": "运行于",
  mode: "模式",
  why: "原因",
  "{from} to {to}": "{from} 到 {to}",
  "ranks share cores, so each op is held to its planned time": "多个 rank 共用核心，因此每个 op 按计划时长执行",
  "each rank has its own": "每个 rank 各有其一",
  "Taking notes costs": "记录开销",
  "{us} µs an op": "每个 op {us} µs",
  "{share} of the step": "占该步的 {share}",
  "under 0.1 %": "低于 0.1 %",
};
