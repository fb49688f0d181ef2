// What a run is asked for, several runs side by side, and how far a run is from its plan.

/** @type {import("../pure/lang.js").Catalogue} */
export const MEASURED = {
  // runoptions.js
  "automatic": "自动",
  "Unit": "单位",
  "How long one unit of the costs lasts in a paced run": "按节拍运行时，代价的一个单位持续多久",
  "Numbers": "数值类型",
  "Steps": "训练步",
  "Training steps with an optimizer; the last one is drawn and measured": "带优化器的训练步；绘制并测量最后一步",
  "Seed": "随机种子",
  "What the model and its data are made from": "模型与数据由它生成",
  "Options of the next run": "下一次运行的选项",
  "A free run has no pace": "自由运行没有节拍",
  "Here every micro-batch is a training step already": "这里每个微批次已是一个训练步",
  "GPU: {gpus} here, for {p} ranks": "GPU：此处有 {gpus} 块，而有 {p} 个 rank",
  "GPU: none here": "GPU：此处没有",
  // runpanel.js, runview.js, runstart.js
  "One after the other on the same workers, each drawn under its plan": "在同一组 worker 上依次运行，各自画在其计划之下",
  "Run all {n} schedules": "运行全部 {n} 个调度",
  "Use {value}": "使用 {value}",
  // runsweep.js
  "Cancel all": "全部取消",
  "bubble by span": "跨度气泡",
  "predicted": "预测",
  "off by": "相差",
  "Runs on the timeline, predicted against measured": "时间线上的运行，预测与实测对照",
  "What the simulator makes of the times that the ops had, against the measured makespan": "按 op 的实测时间仿真所得，与实测总时长相比",
  "predicted at the costs it had": "按其实测代价的预测",
  // runfacts.js
  "{n} steps": "{n} 步",
  "seed {n}": "种子 {n}",
  "Loss of each step": "各训练步的损失",
  "largest error {error}, {most} allowed": "最大误差 {error}，允许 {most}",
  "Predicted at the costs it had": "按其实测代价的预测",
  "{share} against measured": "与实测相比 {share}",
  "planned {n} micro-batches, so {bytes} each": "计划为 {n} 个微批次，即每个 {bytes}",
  // runresiduals.js
  "Farthest from the plan at their end": "结束时离计划最远",
  "Lost the most by themselves": "自身耽搁最多",
  // pure/waits.js
  "a late start": "起步延迟",
  "Measured: {list}.": "实测：{list}。",
};
