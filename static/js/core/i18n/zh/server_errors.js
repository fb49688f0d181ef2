// What is wrong with a request: specs, options, sizes, addresses, links, imports.

/** @type {import("../language.js").Catalogue} */
export const ERRORS = {
  // values
  "{1} must be a whole number from {2} to {3}": "{1!} 必须是 {2} 到 {3} 之间的整数",
  "{1} must be a whole number; {2} is the nearest": "{1!} 必须是整数；最接近的是 {2}",
  "{1} must be from {2} to {3}": "{1!} 必须在 {2} 到 {3} 之间",
  "{1} must be a number from {2} to {3}": "{1!} 必须是 {2} 到 {3} 之间的数",
  "{1} must be a finite number from {2} to {3}": "{1!} 必须是 {2} 到 {3} 之间的有限数",
  "{1} must be one of {2}": "{1!} 必须是以下之一：{2!}",
  "{1} must be {2}": "{1!} 必须是 {2!}",
  "{1} must be true or false": "{1!} 必须是 true 或 false",
  "{1} is not a number that JSON has": "{1!} 不是 JSON 中的数",
  "{1} is {2}, not a number": "{1} 是 {2!}，不是数",
  "{1}(about 2^{2})": "{1}（约 2^{2}）",
  "unknown key{1}": "未知的键{1}",
  "; did you mean {1}?": "；是否想写 {1!}？",
  "; {1} has {2}": "；{1}有 {2!}",
  costs: "代价（costs）",
  "the cost model": "代价模型",

  // specs
  'a spec is an object such as {"family": "1f1b", "p": 4, "m": 8}':
    'spec 应为一个对象，例如 {"family": "1f1b", "p": 4, "m": 8}',
  "family must be a name such as 1f1b": "family 应为名称，例如 1f1b",
  "p x m x v is {1} ops, over the limit of {2}; m = {3} is the most here":
    "p x m x v 共 {1} 个 op，超过上限 {2}；此处 m 最大为 {3}",
  'costs is an object such as {"F": 1, "I": 1, "W": 1, "comm": 0}':
    'costs 应为一个对象，例如 {"F": 1, "I": 1, "W": 1, "comm": 0}',
  "layers is a list with one whole number for each stage": "layers 应为列表，每个阶段一个整数",
  "layers must not all be 0; leave it out for as many each": "layers 不能全为 0；不写则各阶段层数相同",
  "{1} as a list has one entry a stage, not {2}": "{1!} 写成列表时每个阶段一项，而不是 {2} 项",
  "order is the packed text of an imported order; import the file again, or copy the whole link":
    "order 是导入的执行顺序打包后的文本；请重新导入文件，或复制完整链接",
  "order has {1} characters; {2} is the most (run --csv takes a file of any length)":
    "order 有 {1} 个字符，最多为 {2} 个（run --csv 可接受任意长度的文件）",

  // families and options
  "there is no family of that name; there are {1}": "没有这个名称的调度族；可选：{1!}",
  "there is no {1} of that name; there are {2}": "没有这个名称的{1}；可选：{2!}",
  "exactly {1}": "只能是 {1}",
  "from {1} to {2}": "从 {1} 到 {2}",
  "{1} takes v {2}": "{1} 的 v {2}",
  "{1} has no {2}; leave it out": "{1} 没有 {2!}；请去掉它",
  "{1} has no overlapped pairs; leave FB out": "{1} 没有重叠对；请去掉 FB",
  "at these sizes effort is at most {1}": "在此规模下，effort 至多为 {1}",
  "{1} holds one version of its weights; weights is PipeDream's": "{1} 只保存一个权重版本；weights 只用于 PipeDream",
  "{1} as a list has one entry a stage: {2} here, not {3}": "{1!} 写成列表时每个阶段一项：这里为 {2} 项，而不是 {3} 项",
  "layers has one entry a stage: {1} here, not {2}": "layers 每个阶段一项：这里为 {1} 项，而不是 {2} 项",
  "layers as a list has one entry a stage: {1} here, not {2}":
    "layers 写成列表时每个阶段一项：这里为 {1} 项，而不是 {2} 项",
  "{1} spreads a device's costs over the stages, and {2} is already a list with one a stage":
    "{1!} 会把一个设备的代价分摊到各阶段，而 {2!} 已是每个阶段一项的列表",
  "with layers a pair's time follows from F, I and W; leave FB out":
    "设定 layers 后，重叠对的时间由 F、I、W 得出；请去掉 FB",
  "with recomputation a pair's time follows from F, I and W; leave FB out":
    "启用重计算后，重叠对的时间由 F、I、W 得出；请去掉 FB",
  "with recomputation F and I are both lists or both numbers": "启用重计算后，F 与 I 必须都是列表或都是单个数",
  "with an output layer a pair's time follows from F, I and W; leave FB out":
    "计入输出层后，重叠对的时间由 F、I、W 得出；请去掉 FB",
  "{1} takes vocabulary {2}": "{1} 可用的 vocabulary 为 {2!}",
  "with a spread vocabulary v is at most {1}": "词表分片时 v 至多为 {1}",
  "with a spread vocabulary the backwards run first in, first out": "词表分片时反向按先进先出执行",
  "{1} keeps its activations on the device; gis, gis-h and interleaved can offload them":
    "{1} 的激活值留在设备上；能卸载的是 gis、gis-h 与 interleaved",
  "full recomputation keeps only each layer's input, too little to offload; use one of the two":
    "完全重计算只保留每层的输入，不值得卸载；两者请选其一",
  "shared_link bears on offload only; leave it out": "shared_link 只影响卸载；请去掉它",
  "pairs of devices share a link, and p = {1} is odd": "每两个设备共用一条链路，而 p = {1} 是奇数",
  "micro-batches go in groups of {1}; m = {2} is the nearest that is whole groups":
    "微批次以 {1} 个为一组；最接近的整组数为 m = {2}",
  "group must be at most m = {1}": "group 至多为 m = {1}",
  "groups of {1} deadlock on {2} devices with v = {3}; {4} is the least that works":
    "在 {2} 个设备、v = {3} 时，每组 {1} 个会死锁；可行的最小值为 {4}",
  "groups of {1} leave {2} of m = {3} micro-batches over; m = {4} is the nearest that works":
    "每组 {1} 个时，m = {3} 个微批次会余下 {2} 个；最接近的可行值为 m = {4}",
  "a V has exactly two chunks per device": "V 形放置每个设备恰有两个分块",
  "ZB-V has exactly two chunks per device": "ZB-V 每个设备恰有两个分块",
  "DualPipeV has exactly two chunks per device": "DualPipeV 每个设备恰有两个分块",
  "DualPipeV needs at least 2p = {1} micro-batches": "DualPipeV 至少需要 2p = {1} 个微批次",
  "DualPipe needs an even number of devices; p = {1} is the nearest": "DualPipe 需要偶数个设备；最接近的是 p = {1}",
  "DualPipe needs at least 2p = {1} micro-batches": "DualPipe 至少需要 2p = {1} 个微批次",
  "DualPipe needs an even number of micro-batches; {1} is the nearest": "DualPipe 需要偶数个微批次；最接近的是 {1}",
  "not part of a formula: {1}": "不能用于公式：{1!}",

  // imported orders
  "python app.py check FILE.csv judges it, and python app.py run --csv FILE.csv runs it, whatever its length":
    "不论多长，都可用 python app.py check FILE.csv 检查它，用 python app.py run --csv FILE.csv 运行它",
  "packed, the order takes {1} characters, and a link holds {2}; {3}":
    "打包后，该执行顺序占 {1} 个字符，而链接最多容纳 {2} 个；{3}",
  "an imported schedule has its order in the spec: import a file of torch's CSV or a trace":
    "导入的调度把执行顺序存于 spec 中：请导入 torch 的 CSV 文件或 trace",
  "the imported order has {1} = {2}, and no other size can be made of it":
    "导入的执行顺序 {1!} = {2}，无法改成别的规模",
  "the imported order has {1}": "导入的执行顺序{1}",
  "{1} barriers a micro-batch": "每个微批次有 {1} 道屏障",
  "neither S and T nor barriers": "既没有 S、T，也没有屏障",
  "the imported order has copies to host memory": "导入的执行顺序含有到主机内存的拷贝",
  "the imported order cannot run: {1}": "导入的执行顺序无法运行：{1}",

  // the cost model
  "kv_heads must divide attention_heads, {1} here": "kv_heads 必须整除 attention_heads（此处为 {1}）",
  "a layer stores at least the parameters that a token passes through": "一层存储的参数量不少于每个 token 经过的参数量",
  "{1} stages are more than the model's {2} layers": "{1} 个阶段多于模型的 {2} 层",
  "stage {1} has no layer; only the first and the last may have none, and with heads":
    "阶段 {1} 没有层；只有首尾两个阶段可以没有层，且须计入首尾层（heads）",

  // addresses and bodies
  "the address": "地址",
  "frame too large": "帧过大",
  "a run": "运行",
  "an import": "导入",

  // short links
};
