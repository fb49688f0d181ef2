// Simplified Chinese: the texts of the page and of the server, area by area; what only a
// served page says is in served.ts. In Chinese sentences punctuation is
// full-width, numbers and op texts are half-width, and a space stands between Chinese and Latin letters or numbers.
//
// One word for each term, the field's own:
//   pipeline 流水线 · stage 阶段 · rank rank · device 设备 · micro-batch 微批次 · step 训练步 · schedule 调度
//   family 调度族 · placement 放置方式 · looped 循环 · bidirectional 双向 · chunk 模型分块 (分块) · building block 构件
//   slot 时隙 · lifespan 生存期 · op op · order (of ops) 执行顺序 · weight versions 权重版本 · staleness 陈旧度
//   forward 前向 · full backward 完整反向 · input gradient 输入梯度 · weight gradient 权重梯度 · split backward 拆分反向
//   bubble 气泡 · warm-up 预热 · steady state 稳态 · cool-down 冷却 · fill 填充 · drain 排空 · idle 空闲 · busy 忙碌
//   span 跨度 · global 全局 · throughput 吞吐量 · critical path 关键路径 · playhead 播放头
//   activation 激活值 · in flight 在途 · memory (of a device) 显存 · host memory 主机内存 · peak memory 峰值显存
//   offload 卸载 · reload 取回 · copy 拷贝 · recomputation 重计算 · selective 选择性 · interleaved 交错式 · zero bubble 零气泡
//   vocabulary 词表 · output layer 输出层 · embedding 嵌入层 · shard 分片 · barrier 屏障
//   message 消息 · hop 跳 · latency 延迟 · bandwidth 带宽 · cost 耗时 · law 公式 · exact 精确 · bound 下界
//   certificate 最优性证明 · search 搜索 · effort 搜索量 · seed 随机种子 · Pareto frontier 帕累托前沿 · claim 论文声称
//   link 链接 · run 运行 · measured 实测 · planned 计划 · predicted 预测 · verified 已验证 · paced 按节拍 · free 自由
import { ANALYSIS_MESSAGES } from "./messages_analysis.ts";
import { CHARTS_MESSAGES } from "./messages_charts.ts";
import { CLASSES_MESSAGES } from "./messages_classes.ts";
import { FAMILIES_MESSAGES } from "./messages_families.ts";
import { HARDWARE_MESSAGES } from "./messages_hardware.ts";
import { RUNNER_MESSAGES } from "./messages_runner.ts";
import { RUNS_MESSAGES } from "./messages_runs.ts";
import { SCHEDULE_MESSAGES } from "./messages_schedule.ts";
import { WEB_MESSAGES } from "./messages_web.ts";
import { CHARTS as DRAWN } from "./page/charts.ts";
import { COMPONENT } from "./page/component.ts";
import { CONTROLS } from "./page/controls.ts";
import { FIGURES } from "./page/figures.ts";
import { FRAME } from "./page/frame.ts";
import { HELP } from "./page/help.ts";
import { PLAN } from "./page/plan.ts";
import { RUNS as RUNNING } from "./page/runs.ts";
import { TEACH } from "./page/teach.ts";
import { TIMELINE } from "./page/timeline.ts";
import { WORKBENCH } from "./page/workbench.ts";
import { WORDS } from "./words.ts";

type Catalogue = import("../language.ts").Catalogue;

/** The page's own texts. */
export const TEXTS: Catalogue = {
  ...COMPONENT,
  ...CONTROLS,
  ...DRAWN,
  ...FIGURES,
  ...FRAME,
  ...HELP,
  ...PLAN,
  ...RUNNING,
  ...TEACH,
  ...TIMELINE,
  ...WORKBENCH,
};

/** Messages of the server by their codes, and its words. */
export const SERVERS: Catalogue = {
  ...ANALYSIS_MESSAGES,
  ...CHARTS_MESSAGES,
  ...CLASSES_MESSAGES,
  ...FAMILIES_MESSAGES,
  ...HARDWARE_MESSAGES,
  ...RUNNER_MESSAGES,
  ...RUNS_MESSAGES,
  ...SCHEDULE_MESSAGES,
  ...WEB_MESSAGES,
  ...WORDS,
};
