// Orders that cannot run, and files that cannot be read: torch's CSV, traces; and the kinds of ops.

/** @type {import("../language.js").Catalogue} */
export const ORDERS = {
  // kinds
  forward: "前向",
  "input gradient": "输入梯度",
  "weight gradient": "权重梯度",
  "full backward": "完整反向",
  "overlapped forward and backward": "重叠的前向与反向",
  "output layer's shard": "输出层分片",
  "gradients of the output layer's shard": "输出层分片的梯度",
  offload: "卸载",
  reload: "取回",
  "{1} is not an op: expected one such as 2F0 (kinds F I W B) or (0F7;7B3)OVERLAP_F_B":
    "{1!} 不是 op：应形如 2F0（类型为 F I W B）或 (0F7;7B3)OVERLAP_F_B",

  // the first violation
  "rank {1} has no ops": "rank {1} 没有 op",
  "rank {1} does {2} twice": "rank {1} 执行了两次 {2}",
  "rank {1} does {2} {3}": "rank {1} 执行 {2}：{3}",
  "after {1}{2}{3}, which has taken that gradient already": "此前的 {1}{2}{3} 已经算过这个梯度",
  "before {1}{2}{3}, which it needs": "它所需的 {1}{2}{3} 尚未执行",
  "rank {1} does {2}, but the order has no barriers, so the vocabulary is not sharded":
    "rank {1} 执行 {2}，但该执行顺序没有屏障，词表并未分片",
  "rank {1} does {2}, but stage {3} there has micro-batches {4} to {5}":
    "rank {1} 执行 {2}，但那里的阶段 {3} 只有微批次 {4} 至 {5}",
  "rank {1} never does {2}, the {3} of micro-batch {4} in stage {5}":
    "rank {1} 从未执行 {2}，即阶段 {5} 中微批次 {4} 的{3}",
  "rank {1} never does {2}, its shard of micro-batch {3}": "rank {1} 从未执行 {2}，即它负责的微批次 {3} 的分片",
  "rank {1}: the {2}s of chunk {3} are not one for each micro-batch": "rank {1}：分块 {3} 的{2}并非每个微批次一次",
  "rank {1} issues {2} out of turn": "rank {1} 未按次序发出 {2}",
  "rank {1} issues {2} before its forward": "rank {1} 在对应的前向之前就发出了 {2}",
  "rank {1} issues {2} {3}": "rank {1} 发出 {2}：{3}",
  "after its backward": "已在对应的反向之后",
  "before it is offloaded": "此时尚未卸载",
  "deadlock: {1}{2}; none of them can go on": "死锁：{1}{2}；它们都无法继续",
  "; and others": "；等等",
  "rank {1} waits at {2} for {3} on rank {4}": "rank {1} 停在 {2}，等待 rank {4} 上的 {3}",
  "rank {1} waits forever at {2}: the order deadlocks": "rank {1} 永远停在 {2}：该执行顺序死锁",

  // torch's CSV
  "line {1}": "第 {1} 行",
  "line {1}, cell {2}": "第 {1} 行第 {2} 格",
  "line {1}, cell {2}: {3}": "第 {1} 行第 {2} 格：{3}",
  "the file holds no ops: expected one line a rank, such as 0F0,0F1,0B0,0B1":
    "文件中没有 op：应为每个 rank 一行，例如 0F0,0F1,0B0,0B1",
  "the file has {1} bytes; {2} is the most": "文件有 {1} 字节，最多为 {2} 字节",
  "placement {1} cannot be read from a CSV; it is looped or v": "CSV 中读不出放置方式 {1!}；可用 looped 或 v",
  "torch's CSV has no text for {1}": "torch 的 CSV 无法表示{1}",
  "S and T of a sharded vocabulary": "词表分片的 S 与 T",
  "copies to host memory": "到主机内存的拷贝",
  "torch's CSV gives each stage one rank; DualPipe holds every stage on two, so it cannot be written there (DualPipeV can)":
    "torch 的 CSV 中每个阶段只属于一个 rank；DualPipe 的每个阶段都在两个 rank 上，因此无法写出（DualPipeV 可以）",
  "rank {1} does {2}, but with {3} placement it holds {4}": "rank {1} 执行 {2}，但按 {3!} 放置它持有 {4!}",
  "{1} ranks and {2} micro-batches; at most {3} and {4}": "{1} 个 rank 与 {2} 个微批次；至多为 {3} 与 {4}",
  "{1} stages do not spread evenly over the file's {2} lines (ranks)": "{1} 个阶段无法均分到文件的 {2} 行（rank）",
  "{1} stages on {2} ranks: with two directions both are the same even number":
    "{1} 个阶段在 {2} 个 rank 上：双向时两者应为同一个偶数",
  "{1} micro-batches cannot be shared by two directions": "{1} 个微批次无法由两个方向平分",
  "overlapped pairs with {1} chunks per rank; {2} is the most": "重叠对对应每个 rank {1} 个分块；至多为 {2} 个",

  // traces
  "rank {1} copies": "rank {1} 的拷贝",
  activation: "激活值",
  gradient: "梯度",
  stage: "阶段",
  "torch profiler": "torch profiler 记录",
  "op texts": "op 文本",
  "file {1} has {2} bytes; {3} is the most": "文件 {1} 有 {2} 字节，最多为 {3} 字节",
  "file {1} is not JSON: {2}": "文件 {1} 不是 JSON：{2!}",
  'file {1} is no Chrome trace: expected a list of events or an object with "traceEvents"':
    '文件 {1} 不是 Chrome trace：应为事件列表，或含有 "traceEvents" 的对象',
  'event {1} is no trace event: expected an object with "ph"': '事件 {1} 不是 trace 事件：应为含有 "ph" 的对象',
  "event {1} ({2}) has a negative dur": "事件 {1}（{2!}）的 dur 为负",
  "event {1} ends what never began on thread {2} of process {3}": "事件 {1} 结束了进程 {3} 线程 {2} 上从未开始的事件",
  "{1} of event {2} ({3})": "事件 {2}（{3!}）的 {1!} ",
  "{1} ends before it begins": "{1} 在开始之前就结束了",
  "{1} begins but never ends": "{1} 有开始而没有结束",
  "rank {1}: {2} begins before {3} has ended": "rank {1}：{3} 尚未结束，{2} 就已开始",
  "no op of stage {1} is there: is the trace of another rank lacking?":
    "没有阶段 {1} 的 op：是否缺少另一个 rank 的 trace？",
  "none of the {1} events is an op: expected names such as 2F0 or, from torch's profiler, PP:2F0":
    "{1} 个事件中没有 op：名称应形如 2F0，或 torch profiler 的 PP:2F0",
  "{1} tracks have stage {2} as their lowest: give the ranks of one pipeline only, and each once":
    "{1} 条轨道的最小阶段都是 {2}：请只提供一条流水线的各 rank，且每个只给一次",
  "these are the GPU's ranges, which may lack kernels that autograd's own thread launched":
    "这些是 GPU 上的区间，可能缺少由 autograd 自身线程启动的核函数",
  "these are the times at which the processor launched the ops, not those of the GPU":
    "这些是 CPU 启动 op 的时间，不是 GPU 的执行时间",
  "the trace has S and T, or copies to host memory: they are left out, and their time shows as idle":
    "trace 中含有 S 与 T 或到主机内存的拷贝：未予列入，其时间显示为空闲",
  "{1} of the time in ops is waiting for messages that had not been made: the recorder's ranges include the wait, so look at the figures without waits":
    "op 时间中有 {1} 是在等待尚未产生的消息：记录的区间包含等待，请看不含等待的数字",
  "an op ended {1} ms before what it needs was made: the ranks' clocks disagree by that much at least, or the files are of different steps":
    "有 op 在其所需数据产生之前 {1} ms 就结束了：各 rank 的时钟至少相差这么多，或者文件来自不同的训练步",
};
