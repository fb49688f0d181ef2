// Simplified Chinese: every text of the page and of the server, area by area. In Chinese sentences punctuation is
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
//   message 消息 · hop 跳 · latency 延迟 · bandwidth 带宽 · cost 代价 · law 公式 · exact 精确 · bound 下界
//   certificate 最优性证明 · search 搜索 · effort 搜索量 · seed 随机种子 · Pareto frontier 帕累托前沿 · claim 论文声称
//   link 链接 · run 运行 · measured 实测 · planned 计划 · predicted 预测 · verified 已验证 · paced 按节拍 · free 自由
import { ANALYSIS_MESSAGES } from "./messages_analysis.js";
import { CHARTS_MESSAGES } from "./messages_charts.js";
import { FAMILIES_MESSAGES } from "./messages_families.js";
import { HARDWARE_MESSAGES } from "./messages_hardware.js";
import { RUNNER_MESSAGES } from "./messages_runner.js";
import { RUNS_MESSAGES } from "./messages_runs.js";
import { SCHEDULE_MESSAGES } from "./messages_schedule.js";
import { WEB_MESSAGES } from "./messages_web.js";
import { CHARTS as DRAWN } from "./page/charts.js";
import { COMPONENT } from "./page/component.js";
import { CONTROLS } from "./page/controls.js";
import { FIGURES } from "./page/figures.js";
import { FRAME } from "./page/frame.js";
import { HELP } from "./page/help.js";
import { PLAN } from "./page/plan.js";
import { RUNS as RUNNING } from "./page/runs.js";
import { TIMELINE } from "./page/timeline.js";
import { WORKBENCH } from "./page/workbench.js";
import { WORDS } from "./words.js";

/** @typedef {import("../language.js").Catalogue} Catalogue */

/** The page's own texts. @type {Catalogue} */
export const TEXTS = {
  ...COMPONENT,
  ...CONTROLS,
  ...DRAWN,
  ...FIGURES,
  ...FRAME,
  ...HELP,
  ...PLAN,
  ...RUNNING,
  ...TIMELINE,
  ...WORKBENCH,
};

/** Messages of the server by their codes, and its words. @type {Catalogue} */
export const SERVERS = {
  ...ANALYSIS_MESSAGES,
  ...CHARTS_MESSAGES,
  ...FAMILIES_MESSAGES,
  ...HARDWARE_MESSAGES,
  ...RUNNER_MESSAGES,
  ...RUNS_MESSAGES,
  ...SCHEDULE_MESSAGES,
  ...WEB_MESSAGES,
  ...WORDS,
};
