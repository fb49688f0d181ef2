// Runs: the queue, the runner and its workers, and what a run can fail by.

/** @type {import("../language.js").Catalogue} */
export const RUNS = {
  // the queue and the store
  "search takes one object with spec, seconds": "search 需要一个含有 spec、seconds 的对象",

  // the runner's process
  "the runner is busy with run {1}": "runner 正忙于运行 {1}",
  "the runner failed to plan this run: {1}": "runner 无法规划此运行：{1!}",
  "no run of this id is under way": "没有这个 id 的运行正在进行",
  "a line has at most {1} bytes": "一行至多 {1} 字节",
  "not a line of JSON: {1}": "不是一行 JSON：{1!}",
  'a command is an object such as {"cmd": "run", "id": "1", "spec": {}}':
    '命令应为一个对象，例如 {"cmd": "run", "id": "1", "spec": {}}',
  "cmd must be run, cancel, devices or shutdown": "cmd 必须是 run、cancel、devices 或 shutdown",
  "a run needs a spec or a csv": "运行需要 spec 或 csv",
  "spec must be an object or null": "spec 必须是对象或 null",
  "csv must be a text or null": "csv 必须是文本或 null",
  "model must be an object or null": "model 必须是对象或 null",
  "id must be a text of 1 to 100 printable characters": "id 必须是 1 到 100 个可打印字符的文本",
  "{1} goes with csv; a spec has its own": "{1!} 只与 csv 同用；spec 自有其值",

  // before a run starts
  "{1} ops are over the runner's limit of {2}; m = {3} is about the most":
    "{1} 个 op 超过 runner 的上限 {2}；m 最大约为 {3}",
  "where every rank has a GPU of its own, a run is one step: its groups are made for one":
    "每个 rank 独占一块 GPU 时，一次运行只有一个训练步：通信组只为一步建立",
  "here every micro-batch is a training step already: ask for more micro-batches":
    "这里每个微批次已是一个训练步：请增加微批次",
  "each of {1} ranks has a shard of the vocabulary, so it has at least as many words":
    "{1} 个 rank 各有一个词表分片，因此词表至少要有这么多词",
  "{1} units of {2} ms take {3} s, over the limit of {4} s": "{1} 个单位、每个 {2} ms，共需 {3} s，超过上限 {4} s",
  "this run would take about {1} GiB, over half of the memory that there is": "此运行约需 {1} GiB，超过可用内存的一半",
  "unit_ms goes with paced mode; free mode has no pace": "unit_ms 只用于按节拍（paced）模式；自由（free）模式没有节拍",
  "paced mode needs at least one op with a cost above zero": "按节拍（paced）模式至少需要一个代价大于零的 op",
  "hidden must be a multiple of heads ({1}); {2} is near": "hidden 必须是 heads（{1}）的倍数；{2} 较为接近",
  "a run has at most {1} ranks": "一次运行最多有 {1} 个 rank",
  "the csv has {1} lines, one a rank": "csv 有 {1} 行，每个 rank 一行",
  "a csv holds neither S and T nor copies; run it with {1} {2}": "csv 中既没有 S、T 也没有拷贝；请以 {1!} {2!} 运行",

  // messages that do not match
  "{1} of micro-batch {2} into stage {3} (rank {4} to {5})": "微批次 {2} 送入阶段 {3} 的{1}（rank {4} 到 {5}）",
  "{1} of micro-batch {2}": "微批次 {2} 的{1}",
  "output of the last stage": "最后阶段的输出",
  "softmax statistics of all ranks": "所有 rank 的 softmax 统计量",
  "gradient of the last stage's output": "最后阶段输出的梯度",
  "embedded tokens": "嵌入后的 token",
  "the {1} is sent {2} times": "{1}被发送了 {2} 次",
  "the {1} is sent but never received": "{1}已发送却从未接收",
  "the {1} is received {2} times": "{1}被接收了 {2} 次",
  "the {1} is awaited but never sent": "{1}有等待却从未发送",
  "the {1} is sent by rank {2} as {3}": "{1}由 rank {2} 作为{3}发送",
  "the {1} is taken before it is made": "{1}在产生之前就被取用",
  "a collective of {1} micro-batches has {2}": "{1} 个微批次的集合通信只有 {2} 个",
  "micro-batch {1} comes first: collectives take them in their order": "应先到微批次 {1}：集合通信按其次序进行",

  // what it runs on
  "{1}{2} for {3}: ": "{1}{2}，{3}：",
  "CPU core": "CPU 核",
  "model name": "型号名称",
  "{1} for {2}, so on the CPU; ": "{1}，{2}，因此在 CPU 上；",
  "{1} for {2}: each has its own": "{1}，{2}：各占一个",
  "{1} for {2}: shared GPU, the ranks as threads of one process": "{1}，{2}：共享 GPU，各 rank 为同一进程的线程",
  "shared GPU {1}": "共享 GPU {1}",
  "Rank {1} was ready for {2} ms without a core to run on, {3} of the run.":
    "rank {1} 有 {2} ms 已就绪却没有可用的核心，占本次运行的 {3}。",
  "there is no GPU to run on": "此处没有可供运行的 GPU",
  "{1}free, since each has its own": "{1}自由，因为各占一个",
  "{1}paced, since ranks that share a core would hold each other up": "{1}按节拍，因为共用一个核的 rank 会互相拖慢",
  "{1}, as asked": "{1}，按要求",
  "paced, since a unit was given": "按节拍，因为给出了时间单位",

  // what came of it
  "Not verified: the loss of micro-batch {1} in step {2}{3} is {4}.":
    "未验证：微批次 {1} 在第 {2}{3} 步的损失为 {4!}。",
  "Not verified: {1} is not there, or not all of it is a number.": "未验证：{1!} 不存在，或其中有的不是数。",
  "Not verified: the largest relative error, {1}, or that of the loss is above {2}.":
    "未验证：最大相对误差（{1}）或损失的相对误差超过 {2}。",
  "{1} of the gradient of {2}": "{2!} 的梯度为 {1}",
  "out of memory: {1}": "内存不足：{1}",
  "an allocation was refused": "一次内存分配被拒绝",
  "an answer came before its question: {1}": "应答早于提问：{1!}",
  "an offset needs at least one exchange": "时钟偏移至少需要一次交换",
  "the socket is closed": "连接已关闭",

  // while it runs
  "rank {1} failed{2}: {3}": "rank {1}{2}失败：{3}",
  "the worker process of all ranks, {1}, ended ({2})": "所有 rank 的工作进程 {1} 结束（{2}）",
  "rank {1}'s worker process {2} ended ({3})": "rank {1} 的工作进程 {2} 结束（{3}）",
  "rank {1} has not answered for {2} s{3}": "rank {1}{3}已有 {2} s 没有应答",
  "exit {1}": "退出码 {1}",
  " in op {1}": "在 op {1} 中",
  " while warming up": "在准备阶段",
  " while verifying": "在验证时",
  "no op has finished for {1} s: {2}": "已有 {1} s 没有 op 完成：{2}",
  "rank {1} is in op {2}{3}": "rank {1} 正在执行 op {2}{3}",
  "rank {1} waits in op {2} for the {3}{4}{5}": "rank {1} 在 op {2} 中等待{3}{4}{5}",
  "its process, {1}, is stopped": "其进程 {1} 已被暂停",
  ", which was sent": "（已发送）",
  ", of which rank {1}'s part is missing": "（还缺 rank {1} 的部分）",
  ", and {1} more ranks wait": "，另有 {1} 个 rank 在等待",
  "an activation is wanted while it is in host memory": "需要某个激活值时，它还在主机内存中",
  "parameter {1} received no gradient": "参数 {1!} 没有得到梯度",
  "updated {1}": "更新后的 {1!}",
  "updated stage{1}.{2}": "更新后的 stage{1}.{2!}",
};
