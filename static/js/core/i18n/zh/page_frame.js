// The page's frame: header, tabs, states between, sharing, exporting, importing.

/** @type {import("../language.js").Catalogue} */
export const FRAME = {
  // api.js
  "The server does not answer.": "服务器没有响应。",
  // page_view.js
  "The page tries again by itself.": "页面会自动重试。",
  // appearance.js
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
  // dom.js
  ".": "。",
  " ": "",
  // drawer.js
  "{tab}, below": "{tab}：在下方",
  // embed.js
  "The server does not answer": "服务器没有响应",
  "Open full view": "打开完整视图",
  "The measured run is in the full view.": "实测的运行请在完整视图中查看。",
  // embed_view.js
  Close: "关闭",
  // export_panel.js
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
  "No torch CSV: DualPipe holds each stage on two devices. DualPipeV can be exported.":
    "没有 torch CSV：DualPipe 的每个阶段位于两台设备上。DualPipeV 可以导出。",
  "No torch CSV: it has no text for the ops of a sharded output layer.": "没有 torch CSV：它无法表示切分输出层的操作。",
  "No torch CSV: it has no text for copies to host memory.": "没有 torch CSV：它无法表示到主机内存的拷贝。",
  "Order as torch's CSV": "torch CSV 格式的执行顺序",
  "Chrome trace": "Chrome 轨迹",
  "JSON with all times": "含全部时间的 JSON",
  // import_dialog.js
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
  // read.js
  "{name} is larger than this page can read.": "{name} 太大，本页无法读取。",
  "{name} cannot be read.": "无法读取 {name}。",
  "torch's CSV is one file for all ranks; traces may be one file for each.":
    "torch CSV 是所有 rank 共用一个文件；轨迹可以每个 rank 一个文件。",
  "{name} is not JSON: {problem}": "{name} 不是 JSON：{problem}",
  // imported.js
  "Imported order": "导入的执行顺序",
  "An order from elsewhere, stored in the link.": "来自别处的执行顺序，保存在链接中。",
  "At most four schedules fit on one screen": "一个屏幕最多放四个调度",
  "One link cannot hold this many imported orders. Remove one from the screen first, or replace it by this one.":
    "一个链接放不下这么多导入的执行顺序。请先从屏幕上去掉一个，或用这个替换它。",
  // main.js
  "It served this page and no longer responds. Start it again, or check the connection.":
    "它给出本页后就不再响应。请重新启动它，或检查连接。",
  // pictures.js
  "bubble {bubble}, step time {makespan}": "气泡 {bubble}，训练步时间 {makespan}",
  // print.js
  Bubbleline: "Bubbleline",
  // share.js
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
  "Pipeline schedule": "流水线调度",
  // file.js
  Download: "下载",
  "Stand-alone HTML file": "独立的 HTML 文件",
  ["One file with the timeline, playback, the choice of a schedule, and sliders for sizes and costs. It opens from a " +
  "disk and needs neither a server nor a network: for a lecture, a thesis, an archive."]:
    "包含时间线、播放、调度选择以及规模与代价滑块的单个文件。可从磁盘打开，无需服务器与网络：适合课堂、论文与存档。",
  "{n} kB": "{n} kB",
  // link_row.js
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
  Schedule: "调度",
  "{title}, as in this file": "{title}（此文件自带）",
  "{title}: its order is made by the server and stays as it is in this file.":
    "{title}：其执行顺序由服务器构造，在此文件中保持不变。",
  "{title}: its costs or layers are listed for each stage, so p and v stay as in this file.":
    "{title}：其代价或层数是逐阶段列出的，因此 p 与 v 保持此文件中的值。",
  // status.js
  "Loading the first schedule …": "正在加载第一个调度 …",
  "The server of this page builds the schedules. The page tries again every few seconds.":
    "调度由提供本页的服务器构造。每隔几秒会自动重试。",
  "Try now": "立即重试",
  "No such schedule": "没有这样的调度",
  "The server does not answer. Playback, zoom and costs still work; other schedules do not.":
    "服务器没有响应。播放、缩放与代价仍可使用；其他调度不可用。",
  // templates/embed_body.html
  Timeline: "时间线",
  "Timeline. Space plays, full stop and comma choose the next and previous op, question mark lists all keys.":
    "时间线。空格键播放，句点与逗号选择下一个与上一个 op，问号列出全部按键。",
  "schedule timeline": "调度时间线",
  Playback: "播放控制",
  // templates/index.html
  "Skip to the timeline": "跳到时间线",
  "pipeline-parallel schedules, drawn and run": "流水线并行调度，可画可跑",
  "+ Compare": "+ 对比",
  "Open a file: an order or a trace": "打开文件：执行顺序或轨迹",
  "Open …": "打开……",
  "Share this view": "分享此视图",
  Share: "分享",
  "All shortcuts": "全部快捷键",
  "All shortcuts (?)": "全部快捷键 (?)",
  Run: "运行",
  "on cluster": "到集群",
  "Schedule and costs": "调度与代价",
  "Timeline. Up and down choose a row, full stop and comma the next and previous op, question mark lists all keys.":
    "时间线。上下方向键选择行，句点与逗号选择下一个与上一个 op，问号列出全部按键。",
  Figures: "数据",
  Details: "详情",
  // templates/standalone.html
  "Sizes and costs": "规模与代价",
  // toolbar.js
  "Show the run": "显示运行",
  // page_view.js
  Compare: "对比",
  Costs: "代价",
  "Building block": "构件",
  Export: "导出",
  Shortcuts: "快捷键",
};
