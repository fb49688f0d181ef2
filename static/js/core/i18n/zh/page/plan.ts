// The tab of training plans.

export const PLAN = {
  "Training plan": "训练方案",
  "Plans are being built": "正在构建方案",
  Plans: "方案",
  "One search over schedule, chunks, memory limit, recomputation and offload for the fastest step.":
    "一次搜索涵盖调度、分块、显存上限、重计算与卸载，找出最快的训练步。",
  "Building each schedule with recomputation and offload, at most {seconds} s …":
    "正在构建每个调度与各种重计算、卸载的组合，最多 {seconds} s …",
  "Stopped.": "已停止。",
  "The setting has changed since these plans were found.": "找到这些方案之后，设置已改变。",
  "Time of a step against memory": "单步时间随显存的变化",
  "memory limit {limit}": "显存上限 {limit}",
  "recompute {recompute}, offload {offload}": "重计算：{recompute}，卸载：{offload}",
  "{seconds} s, MFU {mfu}, {memory}": "{seconds} s，MFU {mfu}，{memory}",
  "{tried} settings built; the best of each schedule, {fit} of {shown} within {limit}.":
    "已构建 {tried} 种设置；下面是每种调度中最好的，{shown} 个中有 {fit} 个在 {limit} 以内。",
  "None of {tried} settings fits in {limit}; the one with the least memory needs {least}.":
    "{tried} 种设置都放不进 {limit}；显存最少的需要 {least}。",
  "Not built in time: {left}.": "来不及构建的：{left} 种。",
  "Tensor and data parallel, ZeRO, sequence, efficiency": "张量并行、数据并行、ZeRO、序列长度、效率",
  "More settings …": "更多设置 …",
  "GB a device": "每设备 GB",
  "The list of models could not be loaded. Close and open this tab to try again.":
    "无法加载模型列表。请关闭并重新打开此标签页再试。",
  "Choose a model": "选择模型",
  "Find the fastest plan": "找最快的方案",
  "GB a device is a number from {least} to {most}, not “{typed}”: the machine's memory counts.":
    "每设备 GB 须为 {least} 到 {most} 之间的数，不能是“{typed}”；现按机器的显存计算。",
  "Choose a model: step time and memory follow from it and from the machine.":
    "请选择模型：单步时间与显存由模型和机器得出。",
  "{preset}: {factors} = {all} devices.": "{preset}：{factors} = {all} 个设备。",
  "your own numbers": "自定义数值",
  "model chunks on a device, v": "一个设备上的模型分块数 v",
  limit: "上限",
  "memory limit of a searched order, in one micro-batch's activations":
    "搜索执行顺序时的显存上限，以一个微批次的激活值为单位",
  "what is run again before the backward, of all chunks or chunk by chunk":
    "反向之前重新计算的部分，所有分块相同或逐块不同",
  "what goes to host memory, of all chunks or chunk by chunk": "放到主机内存的部分，所有分块相同或逐块不同",
  "step s": "训练步 s",
  "with the optimizer and the exchange of the replicas": "包括优化器更新与副本间的交换",
  "against now": "相对当前",
  "time of the step, against the schedule on the screen": "单步时间，相对于屏幕上的调度",
  "Plans that fit from the fastest, then the others": "放得下的方案从最快的开始，然后是其余方案",
  "on the screen": "在屏幕上",
  "Put it on the screen; with Shift, below what is there": "放到屏幕上；按住 Shift 则放在现有调度下方",
  "limit {limit} GB": "上限 {limit} GB",
  fastest: "最快",
  "Limits, GPUs to lay out, command …": "限制范围、GPU 布局、命令 …",
  "The same on the command line:": "在命令行中同样查找：",
  "limits of training plans such as {example}": "训练方案的限制，如 {example}",
  Framework: "框架",
  any: "任意",
  all: "全部",
  Schedules: "调度",
  "names between commas, such as 1f1b, interleaved": "名称以逗号分隔，如 1f1b, interleaved",
  Recomputation: "重计算",
  Offload: "卸载",
  GPUs: "GPU 数",
  "in all: with a batch, all sizes of the layout are found": "总数：与批大小一起给出时，会找出布局的所有大小",
  Batch: "批大小",
  "sequences of a step on all GPUs": "一个训练步在所有 GPU 上的序列数",
  "place and name of the family; = shares its place: within 1 %, estimates are no more exact":
    "名次与调度族名称；= 表示并列：相差在 1 % 以内，估算不会更精确",
  layout: "布局",
  "pipeline, chunks, tensor, context, expert and data parallel; sequences of a micro-batch; m":
    "流水线、分块、张量、上下文、专家与数据并行；一个微批次的序列数；m",
  "It would fit with {ways}.": "以下设置放得下：{ways}。",
  "memory of the fullest device, GB": "显存最满的设备的显存，GB",
  "time of a step, s": "单步时间，s",
};
