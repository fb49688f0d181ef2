// Messages of the server by their codes: models, machines, estimates and balance.

export const HARDWARE_MESSAGES = {
  "hardware.a100_source":
    "NVIDIA A100 数据手册，NVLink 双向 600 GB/s；200 Gb/s InfiniBand；延迟与主机链路（PCIe x16）为假定值",
  "hardware.activated_parameters": "一层中每个 token 经过的参数量",
  "hardware.activations_needed_by_w": "其中 W 还需要的部分",
  "hardware.activations_on_device": "设备 {rank} 上一个微批次的激活值",
  "hardware.activations_with_flash": "一层的激活值，使用 flash attention",
  "hardware.activations_without_flash": "一层的激活值，不使用 flash attention",
  "hardware.b200_source":
    "NVIDIA HGX B200 数据手册，NVLink 双向 1.8 TB/s；400 Gb/s InfiniBand；延迟与主机链路（PCIe x16）为假定值",
  "hardware.bytes_of_a_message": "一条消息的字节数",
  "hardware.copies_to_compute": "拷贝与计算之比，即 PipeOffload 的 k",
  "hardware.copy_of_a_device": "一个设备激活值的一次拷贝",
  "hardware.copy_of_a_layer": "一层激活值的一次拷贝",
  "hardware.counted_as_in_papers": "按论文的层计：sbh(24h+4s)、sbh(24h+8s)、24sbh^2 FLOP",
  "hardware.counted_by_parameters":
    "F、I、W 各按每个 token、每个被激活的参数 2 FLOP 计，另加注意力核心的 4s^2bh、8s^2bh、0",
  "hardware.flop_of_a_layer": "一层的 {kind}",
  "hardware.h100_source":
    "NVIDIA H100 数据手册（稠密 989.4），NVLink 双向 900 GB/s；400 Gb/s InfiniBand；延迟与主机链路（PCIe x16）为假定值",
  "hardware.h200_source":
    "NVIDIA H200 数据手册（稠密 989.4），NVLink 双向 900 GB/s；400 Gb/s InfiniBand；延迟与主机链路（PCIe x16）为假定值",
  "hardware.kv_heads_must_divide": "kv_heads 必须整除 attention_heads（此处为 {heads}）",
  "hardware.layers_need_an_entry_per_stage": "layers 写成列表时每个阶段一项：这里为 {stages} 项，而不是 {given} 项",
  "hardware.memory_of_device": "设备 {rank} 的显存",
  "hardware.more_stages_than_layers": "{stages} 个阶段多于模型的 {layers} 层",
  "hardware.no_such_machine": "没有这个名称的机器；可选：{names}",
  "hardware.no_such_model": "没有这个名称的模型；可选：{names}",
  "hardware.output_layer_ratio": "输出层与 Transformer 层之比",
  "hardware.parameters_of_device": "设备 {rank} 的参数量",
  "hardware.parameters_of_output_layer": "输出层的参数量",
  "hardware.product_of_a_shard": "输出层的一次矩阵乘，在 p 个分片之一上",
  "hardware.rate_of_a_stage": "一个阶段的设备的实际速率",
  "hardware.share_needed_by_w": "W 所需激活值的占比",
  "hardware.stage_without_layer": "阶段 {stage} 没有层；只有首尾两个阶段可以没有层，且须计入首尾层（heads）",
  "hardware.stages_not_even": "代价模型为每个 rank 分配同样多的阶段；此执行顺序在 {p} 个 rank 上有 {stages} 个阶段",
  "hardware.stored_less_than_activated": "一层存储的参数量不少于每个 token 经过的参数量",
  "hardware.stored_parameters": "一层存储的参数量",
  "hardware.the_cost_model": "代价模型",
  "hardware.time_of_a_device": "一个设备的 {kind}",
  "hardware.time_of_a_hop": "一跳的时间",
  "hardware.time_of_a_layer": "一层的 {kind}，时间",
  "hardware.time_of_embedding": "嵌入层的 {kind}，时间",
  "hardware.time_of_output_layer": "输出层的 {kind}，时间",
  "hardware.time_of_stage": "阶段 {stage} 的 {kind}",
  "hardware.time_of_stages": "阶段 {first} 至 {last} 的 {kind}",
  "hardware.weight_version_ratio": "一个权重版本与一个微批次激活值之比",
  "hardware.weights_read_once": "把一个设备的权重读一遍的时间",
  "hardware.your_own": "自定义",
  "hardware.yours_to_set": "每一项都可自行设定。",
  "hardware.zero_bubble_shape": "形状取自 Zero Bubble 论文，s = 1024。微批次大小与词表（GPT-2 的，经填充）为假定值。",
  "hardware.model_flop": "一个微批次的模型 FLOP，全部层",
  "hardware.output_flop": "输出层与嵌入层的 FLOP",
  "hardware.replicas_not_counted": "{data} 个副本，不分片。一步结束时梯度的 all-reduce 在此不计时间。",
  "hardware.zero_not_counted":
    "ZeRO {zero}（Rajbhandari 等，2020，arXiv 1910.02054），跨 {data} 个副本。不计聚合后的权重与缓冲区，其通信在此也不计时间：" +
    "在流水线中，ZeRO 2 每个微批次都要归约梯度，ZeRO 3 每个微批次都要聚合权重。",
  "hardware.controllable_memory_shape":
    "形状取自 Qi 等，2024（arXiv 2405.15362），该文使用 {devices} 个设备。其表格给出层数、头数与隐藏维度；微批次大小 1 与词表（GPT-2 的，经填充）为假定值。",
  "hardware.published": "已发布的配置，{billions}B 参数。序列长度 {sequence} 与微批次大小 1 为假定值。",
  "hardware.with_note": "{source}{note}",
  "hardware.two_experts": "每个 token 经过八个专家中的两个。",
  "hardware.wide_heads": "其注意力头宽 256；激活值按隐藏维度计算。",
  "hardware.latent_attention":
    "参数量为 3 个稠密层与 58 个 MoE 层（256 + 1 个专家中的 8 + 1 个）的平均值。注意力核心按头宽 160 计算：分数 192，值 128。",
  "hardware.parameters_of_model": "模型的参数量",
};
