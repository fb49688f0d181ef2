// Models, machines, and the arithmetic of what they cost.

/** @type {import("../language.js").Catalogue} */
export const COSTS = {
  // counting
  "the papers' layer: sbh(24h+4s), sbh(24h+8s), 24sbh^2 FLOP": "按论文的层计：sbh(24h+4s)、sbh(24h+8s)、24sbh^2 FLOP",
  "2 FLOP a token and activated parameter in each of F, I and W, and the attention core's 4s^2bh, 8s^2bh, 0":
    "F、I、W 各按每个 token、每个被激活的参数 2 FLOP 计，另加注意力核心的 4s^2bh、8s^2bh、0",
  bytes: "字节",
  parameters: "参数",
  "bytes of a message": "一条消息的字节数",
  "time of a hop": "一跳的时间",
  "parameters of a layer that a token passes through": "一层中每个 token 经过的参数量",
  "parameters of the output layer": "输出层的参数量",
  "output layer to transformer layer": "输出层与 Transformer 层之比",
  "rate of a stage's devices": "一个阶段的设备的实际速率",
  "{1} of a layer": "一层的 {1}",
  "{1} of a layer, time": "一层的 {1}，时间",
  "{1} of a device": "一个设备的 {1}",
  "{1} of stage {2}": "阶段 {2} 的 {1}",
  "{1} of stages {2} to {3}": "阶段 {2} 至 {3} 的 {1}",
  "{1} of the output layer, time": "输出层的 {1}，时间",
  "{1} of the embedding, time": "嵌入层的 {1}，时间",

  // memory
  "activations of a layer with flash attention": "一层的激活值，使用 flash attention",
  "activations of a layer without": "一层的激活值，不使用 flash attention",
  "of those, needed by W": "其中 W 还需要的部分",
  "share of the activations that W needs": "W 所需激活值的占比",
  "parameters that a layer keeps": "一层存储的参数量",
  "a device's weights read once": "把一个设备的权重读一遍的时间",
  "device {1}": "设备 {1}",
  "activations of a micro-batch on {1}": "{1} 上一个微批次的激活值",
  "parameters of {1}": "{1} 的参数量",
  "memory of {1}": "{1} 的显存",

  // options
  "one copy of a layer's activations": "一层激活值的一次拷贝",
  "one copy of a device's activations": "一个设备激活值的一次拷贝",
  "copies to compute, PipeOffload's k": "拷贝与计算之比，即 PipeOffload 的 k",
  "one product of the output layer on one of p shards": "输出层的一次矩阵乘，在 p 个分片之一上",
  "a weight version to a micro-batch's activations": "一个权重版本与一个微批次激活值之比",

  // models
  "Parameters, hidden size and vocabulary as printed in the vocabulary-parallelism table.":
    "参数量、隐藏维度与词表大小取自词表并行论文的表格。",
  "{1} Sequence {2} and micro-batch 1 are assumed.{3}": "{1}序列长度 {2} 与微批次大小 1 为假定值。{3}",
  " The printed parameters are about those of one expert, though two of the eight are activated.":
    "表中的参数量约为一个专家的参数量，而实际激活八个中的两个。",
  " Layers, heads and ffn are those of Llama 3 8B.": "层数、头数与 ffn 取自 Llama 3 8B。",
  " Its heads are 256 wide; attention is counted with the hidden size.": "其注意力头宽 256；这里按隐藏维度计算注意力。",
  " Stored parameters are 671e9 / 61 layers; its latent attention is counted as plain.":
    "存储的参数量为 671e9 / 61 层；其潜在注意力（MLA）按普通注意力计。",
  "Zero Bubble's shape, s = 1024. The micro-batch size and the vocabulary (GPT-2's, padded) are assumed.":
    "形状取自 Zero Bubble 论文，s = 1024。微批次大小与词表（GPT-2 的，经填充）为假定值。",
  "Your own": "自定义",
  "Every field is yours to set.": "每一项都可自行设定。",

  // machines
  "latencies and the host link (PCIe x16) are assumed": "延迟与主机链路（PCIe x16）为假定值",
  "NVIDIA A100 datasheet, NVLink 600 GB/s both ways; 200 Gb/s InfiniBand; {1}":
    "NVIDIA A100 数据手册，NVLink 双向 600 GB/s；200 Gb/s InfiniBand；{1}",
  "NVIDIA H100 datasheet (989.4 dense), NVLink 900 GB/s both ways; {1}; {2}":
    "NVIDIA H100 数据手册（稠密 989.4），NVLink 双向 900 GB/s；{1}；{2}",
  "NVIDIA H200 datasheet (989.4 dense), NVLink 900 GB/s both ways; {1}; {2}":
    "NVIDIA H200 数据手册（稠密 989.4），NVLink 双向 900 GB/s；{1}；{2}",
  "NVIDIA HGX B200 datasheet, NVLink 1.8 TB/s both ways; {1}; {2}":
    "NVIDIA HGX B200 数据手册，NVLink 双向 1.8 TB/s；{1}；{2}",
};
