// The page's frame: header, tabs, states between, sharing, exporting, importing.

import type { Catalogue } from "../../language.ts";

export const FRAME: Catalogue = {
  // api.ts
  "The server does not answer.": "服务器没有响应。",
  // page_view.ts
  "The page tries again by itself.": "页面会自动重试。",
  // appearance.ts
  Theme: "主题",
  System: "跟随系统",
  Light: "浅色",
  Dark: "深色",
  Colours: "配色",
  Standard: "标准",
  "As in papers": "论文配色",
  "Kinds of op": "op 的种类",
  "Colour and bars": "颜色加横条",
  "Also hatched": "再加斜纹",
  Language: "语言",
  "Appearance and language": "外观与语言",
  // drawer.ts
  "Height of the tab": "标签页的高度",
  "Drag, or use the arrow keys; a double click resets the height": "拖动，或使用方向键；双击恢复默认高度",
  "{n} pixels": "{n} 像素",
  // embed.js
  "The server does not answer": "服务器没有响应",
  "Open full view": "打开完整视图",
  "The measured run is in the full view.": "实测的运行请在完整视图中查看。",
  // import_dialog.ts
  "Open an order or a trace": "打开执行顺序或轨迹",
  // embed_view.ts
  Close: "关闭",
  // export_panel.ts
  Show: "显示",
  "current view": "当前视图",
  "the whole step": "整个训练步",
  Width: "宽度",
  "a page, 174 mm": "整页，174 mm",
  "a column, 84 mm": "单栏，84 mm",
  "a slide, 1280 px": "幻灯片，1280 px",
  "wide, 1920 px": "宽，1920 px",
  Rows: "行高",
  "as many as fit a page": "一页能容纳的行数",
  low: "低",
  medium: "中",
  tall: "高",
  Background: "背景",
  light: "浅色",
  dark: "深色",
  "none, for light paper": "无，用于浅色纸张",
  "Micro-batch numbers": "微批次编号",
  Legend: "图例",
  Headings: "标题",
  "Address of the view": "视图的地址",
  "Preview of the picture": "图片预览",
  Picture: "图片",
  SVG: "SVG",
  "PNG, three times as sharp": "PNG，三倍清晰度",
  Print: "打印",
  "Order and times": "执行顺序与时间",
  "One file with this view, playback and cost sliders, which needs no server; also code to embed it, and short links.":
    "包含此视图、播放与代价滑块的单个文件，无需服务器；也有嵌入代码与短链接。",
  "Share …": "分享 …",
  "{width} × {height} px, {size} kB as SVG; text stays editable.":
    "{width} × {height} px，SVG 为 {size} kB；文字仍可编辑。",
  "No torch CSV: Chimera and DualPipe hold each stage on two devices. DualPipeV can be exported.":
    "没有 torch CSV：Chimera 与 DualPipe 的每个阶段位于两台设备上。DualPipeV 可以导出。",
  "No torch CSV: it has no text for the ops of a sharded output layer.": "没有 torch CSV：它无法表示切分输出层的操作。",
  "No torch CSV: it has no text for copies to host memory.": "没有 torch CSV：它无法表示到主机内存的拷贝。",
  "Order as torch's CSV": "torch CSV 格式的执行顺序",
  "Chrome trace": "Chrome 轨迹",
  "JSON with all times": "含全部时间的 JSON",
  // import_dialog.ts
  Import: "导入",
  "Choose a file …": "选择文件 …",
  ["An order in torch's CSV (one line a rank), or a trace of a run: from torch's profiler, one file for each " +
  "rank, or Chrome's format with ops named 2F0."]:
    "torch CSV 格式的执行顺序（每个 rank 一行），或一次运行的轨迹：torch profiler 的轨迹（每个 rank 一个文件），或 op 命名如 2F0 的 Chrome 格式。",
  "or drop it on the page, or paste it:": "或拖放到页面上，或粘贴到这里：",
  "Text of the order or the trace": "执行顺序或轨迹的文本",
  Place: "位置",
  "The text": "该文本",
  "Reading …": "正在读取 …",
  "in place of {letter}, {title}": "替换 {letter}，即 {title}",
  "as one more schedule (four are on the screen)": "作为新增的调度（屏幕上已有四个）",
  "as one more schedule": "作为新增的调度",
  "its times only, under A": "只取其时间，放在 A 之下",
  "a trace: its times become a measured lane": "轨迹：其时间成为一条实测通道",
  "an order in torch's CSV": "torch CSV 格式的执行顺序",
  "{names}: {what}": "{names}：{what}",
  "Recognized as {what}": "识别为：{what}",
  "The order is in the link: p {p}, m {m}, v {v}.": "执行顺序已写入链接：p {p}，m {m}，v {v}。",
  "The trace is kept as a run: p {p}, m {m}.": "轨迹已保存为一次运行：p {p}，m {m}。",
  "The server does not answer. Your input is still here; try again in a moment.":
    "服务器没有响应。您输入的内容仍在这里，请稍后再试。",
  "Drop an order or a trace": "拖入执行顺序或轨迹",
  // read.ts
  "{name} is larger than this page can read.": "{name} 太大，本页无法读取。",
  "{name} cannot be read.": "无法读取 {name}。",
  "torch's CSV is one file for all ranks; traces may be one file for each.":
    "torch CSV 是所有 rank 共用一个文件；轨迹可以每个 rank 一个文件。",
  "{name} is not JSON: {problem}": "{name} 不是 JSON：{problem}",
  // imported.ts
  "Imported order": "导入的执行顺序",
  "An order from elsewhere, stored in the link.": "来自别处的执行顺序，保存在链接中。",
  "At most four schedules fit on one screen": "一个屏幕最多放四个调度",
  "One link cannot hold this many imported orders. Remove one from the screen first, or replace it by this one.":
    "一个链接放不下这么多导入的执行顺序。请先从屏幕上去掉一个，或用这个替换它。",
  // main.js
  "It served this page and no longer responds. Start it again, or check the connection.":
    "它给出本页后就不再响应。请重新启动它，或检查连接。",
  // pictures.ts
  "bubble {bubble}, step time {makespan}": "气泡 {bubble}，训练步时间 {makespan}",
  // print.ts
  Bubbleline: "Bubbleline",
  // share.ts
  "Link to this view": "此视图的链接",
  "Copied. It is {n} characters long, which some programs cut; a short link is safer.":
    "已复制。它有 {n} 个字符，有些程序会截断；短链接更稳妥。",
  "Copied. This view is large, so the link is packed; a short link is easier to share.":
    "已复制。此视图内容较多，因此链接经过打包；短链接更便于传递。",
  "Copied. The link contains the whole view; nothing is stored.": "已复制。链接包含整个视图；不保存任何内容。",
  "Make a short link": "生成短链接",
  "Short link": "短链接",
  "Short link, with an optional name": "短链接，可自定名称",
  "Asking …": "正在请求 …",
  "Copied. It opens this view as it is now and is stored on this server.":
    "已复制。它打开此刻的视图，保存在此服务器上。",
  "The server does not answer. The link above works without a short one.":
    "服务器没有响应。上面的链接无需短链接即可使用。",
  "Use {name}": "改用 {name}",
  // embed.js
  "Code for your page": "用于您页面的代码",
  "as the reader's system": "跟随读者的系统",
  Controls: "控件",
  all: "全部",
  "play and scrub": "播放与拖动",
  Size: "大小",
  "full width": "全宽",
  "Preview of the embed": "嵌入的预览",
  "Embed in a page": "嵌入页面",
  "Or one element, with one script and no server:": "也可只用一个元素加一个脚本，无需服务器：",
  "Pipeline schedule": "流水线调度",
  // file.js
  Download: "下载",
  "Stand-alone HTML file": "独立的 HTML 文件",
  ["One file with the timeline, playback, the choice of a schedule, and sliders for sizes and costs. It opens from a " +
  "disk and needs neither a server nor a network: for a lecture, a thesis, an archive."]:
    "包含时间线、播放、调度选择以及规模与代价滑块的单个文件。可从磁盘打开，无需服务器与网络：适合课堂、论文与存档。",
  "{n} kB": "{n} kB",
  // link_row.ts
  Copy: "复制",
  "Copied.": "已复制。",
  "This browser does not allow copying. The text is selected: press Ctrl+C.":
    "此浏览器不允许自动复制。文字已选中：请按 Ctrl+C。",
  // standalone.js
  "Theme: as the system": "主题：跟随系统",
  "Theme: light": "主题：浅色",
  "Theme: dark": "主题：深色",
  // standalone_controls.js
  "{title}: bubble {bubble}, step time {time}, peak memory {memory} micro-batches' activations":
    "{title}：气泡 {bubble}，训练步时间 {time}，峰值显存 {memory} 个微批次的激活值",
  "{title}: the order was made for the costs of this file and stays the same; only its times change.":
    "{title}：执行顺序是按此文件自带的代价得出的，保持不变；只有时间随之变化。",
  Reset: "重置",
  // standalone_costs.js
  "latency of a hop": "一跳的延迟",
  // standalone_sizes.js
  "{title}, as in this file": "{title}（此文件自带）",
  "{title}: its order is made by the server and stays as it is in this file.":
    "{title}：其执行顺序由服务器构造，在此文件中保持不变。",
  "{title}: its costs or layers are listed for each stage, so p and v stay as in this file.":
    "{title}：其代价或层数是逐阶段列出的，因此 p 与 v 保持此文件中的值。",
  // status.ts
  "Loading the first schedule …": "正在加载第一个调度 …",
  "The server searches this schedule or reads it. The page tries again every few seconds.":
    "此调度由服务器搜索或读取。每隔几秒会自动重试。",
  "Try now": "立即重试",
  "No such schedule": "没有这样的调度",
  "The server does not answer. Constructed schedules still work; searched and imported ones do not.":
    "服务器没有响应。构造的调度仍可使用；搜索的和导入的不可用。",
  // templates/component.html
  "A pipeline schedule in your own page": "在你自己的网页中展示流水线调度",
  "One script and one element. No framework, no server, no network once the script is loaded.":
    "一个脚本加一个元素。无需框架，无需服务器；脚本加载之后也无需网络。",
  "Try it": "试一试",
  "The code for what you see:": "你所看到的，代码如下：",
  "Download bubble-line.js": "下载 bubble-line.js",
  "Put it beside your page, and the page needs no other server.": "放在你的网页旁边，网页便不再需要其他服务器。",
  "Several in one page": "一页多个",
  Attributes: "属性",
  "All are optional. The element redraws when one of them changes; what a reader changes becomes an attribute.":
    "全部可选。属性一变，元素就重绘；读者所改的也会成为属性。",
  Attribute: "属性",
  Values: "取值",
  "Without it": "缺省",
  Meaning: "含义",
  "The schedule; any of its usual names is accepted.": "调度；接受它的任何常用名称。",
  "Devices.": "设备数。",
  "Micro-batches of a step.": "一个训练步的微批次数。",
  "the family's own": "该调度族自己的值",
  "Chunks of the model on each device.": "每个设备上的模型分块数。",
  "1 to m": "1 到 m",
  "torch's rule": "torch 的规则",
  "Micro-batches in a group, of the interleaved families that have groups.":
    "一组的微批次数，用于有分组的交错式调度族。",
  "present or not": "有或无",
  not: "无",
  "GPipe's backwards run from the last micro-batch.": "GPipe 的反向从最后一个微批次开始。",
  "from 0": "从 0 起",
  "Time of a forward, an input gradient, a weight gradient.": "前向、输入梯度、权重梯度各自的时间。",
  "Time of one hop between devices.": "设备之间一跳的时间。",
  "What a reader can use, separated by spaces; empty: all.": "读者可用的控件，以空格分隔；为空：全部。",
  "Colours: as the reader's system, light, or dark.": "配色：跟随读者的系统、浅色或深色。",
  "Of playback; at 1 a step takes eight seconds.": "播放速度；为 1 时一个训练步历时八秒。",
  "Plays once; never for readers who prefer less motion.": "播放一次；对偏好减少动画的读者从不自动播放。",
  "that of the page": "网页的语言",
  "Language of its texts.": "其文字的语言。",
  "A value that cannot be is explained in the element, with the nearest one that can:":
    "不可行的值会在元素中说明，并给出最接近的可行值：",
  "Events, methods, size": "事件、方法、尺寸",
  "a reader has changed something; its detail has family, p, m, v, and the figures.":
    "读者改动了某项；其 detail 含 family、p、m、v 与各项数据。",
  "bubble (a share of the step), makespan, peak (micro-batches' activations); null while an attribute is wrong.":
    "bubble (占训练步的比例)、makespan、peak (以微批次的激活值计)；属性有误时为 null。",
  "The element is a block; give it a width and a height by CSS, and the drawing fills it.":
    "该元素是块级元素；用 CSS 给出宽与高，图形会将其填满。",
  "Keys in the drawing: arrow keys choose an op, which is described; space plays; Home and End move the playhead.":
    "图中的按键：方向键选择 op 并给出说明；空格键播放；Home 与 End 移动播放头。",
  "Content Security Policy": "内容安全策略 (CSP)",
  ["The script needs script-src for the place it is loaded from, and nothing else: no inline style, no eval, no " +
  "request, no worker, no cookie. Its orders are the server's, byte by byte; searched families need the server."]:
    "脚本只需要 script-src 允许其来源，此外别无所需：没有内联样式、eval、请求、worker 或 cookie。其执行顺序与服务器的逐字节相同；需要搜索的调度族仍需服务器。",
  // templates/embed_body.html
  Timeline: "时间线",
  "Timeline. Space plays, full stop and comma choose the next and previous op, question mark lists all keys.":
    "时间线。空格键播放，句点与逗号选择下一个与上一个 op，问号列出全部按键。",
  // templates/index.html
  "Skip to the timeline": "跳到时间线",
  "pipeline-parallel schedules, drawn and run": "流水线并行调度，可画可跑",
  "+ Compare": "+ 对比",
  "Open a file: an order or a trace": "打开文件：执行顺序或轨迹",
  "Open …": "打开……",
  "Share this view": "分享此视图",
  Share: "分享",
  "All shortcuts": "全部快捷键",
  Run: "运行",
  "on cluster": "到集群",
  "Schedule and costs": "调度与代价",
  "Timeline. Up and down choose a row, full stop and comma the next and previous op, question mark lists all keys.":
    "时间线。上下方向键选择行，句点与逗号选择下一个与上一个 op，问号列出全部按键。",
  Figures: "数据",
  Details: "详情",
  // toolbar.ts
  "Show the run": "显示运行",
  // page_view.ts
  Compare: "对比",
  Costs: "代价",
  "Building block": "构件",
  Export: "导出",
  Shortcuts: "快捷键",
};
