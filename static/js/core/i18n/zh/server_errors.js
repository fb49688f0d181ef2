// What is wrong with a request: specs, options, sizes, addresses, links, imports.

/** @type {import("../language.js").Catalogue} */
export const ERRORS = {
  // values
  "{1} must be {2}": "{1!} 必须是 {2!}",
  "{1} must be true or false": "{1!} 必须是 true 或 false",
  "{1} must be 1 or 0": "{1!} 必须是 1 或 0",
  "{1} must be a plain number such as 4 or 0.5": "{1!} 必须是普通数字，如 4 或 0.5",
  "{1} is not a number that JSON has": "{1!} 不是 JSON 中的数",
  "{1}(about 2^{2})": "{1}（约 2^{2}）",
  costs: "代价（costs）",

  // specs

  // families and options
  "{1} as a list has one entry a stage: {2} here, not {3}": "{1!} 写成列表时每个阶段一项：这里为 {2} 项，而不是 {3} 项",
  "not part of a formula: {1}": "不能用于公式：{1!}",

  // imported orders

  // the cost model

  // addresses and bodies
  "the address": "地址",
  "{1} stands more than once in the address": "{1!} 在地址中出现了不止一次",
  "the address is not UTF-8 text": "地址不是 UTF-8 文本",
  "the address has more than {1} keys": "地址中的键超过 {1} 个",
  "{1}={2}: k*x stands for x in k neighbouring stages, {3} in all at most":
    "{1!}={2!}：k*x 表示相邻 k 个阶段都为 x，总共至多 {3} 个",
  "unknown key; other schedules' keys begin with {1} and a dot": "未知的键；其他调度的键以 {1!} 加一个点开头",
  "z is not a packed view as the page writes it, or a part of it is missing": "z 不是页面写出的打包视图，或缺了一部分",
  "this is not the query of a view": "这不是一个视图的查询串",
  "this is not the query of a view, such as ?family=zb-h1&p=8": "这不是一个视图的查询串（例如 ?family=zb-h1&p=8）",
  "The address is too long.": "地址太长。",
  "This is not an HTTP request that can be read.": "无法读取此 HTTP 请求。",
  "frame too large": "帧过大",
  "This server does not go by that name (see BUBBLELINE_HOSTS).": "本服务器不使用这个名称（见 BUBBLELINE_HOSTS）。",
  "Only this server's own page may do this.": "只有本服务器自己的页面可以这样做。",
  "The body must be JSON, sent with Content-Type: application/json.":
    "请求体必须是 JSON，并以 Content-Type: application/json 发送。",
  "The body must be a JSON object.": "请求体必须是 JSON 对象。",
  "The body is nested too deeply.": "请求体嵌套过深。",
  "The body is not JSON: {1}": "请求体不是 JSON：{1!}",
  "this key stands more than once in the body": "此键在请求体中出现了不止一次",
  "{1} takes an object with {2}": "{1}需要含有 {2!} 的对象",
  "a link": "链接",
  "a run": "运行",
  "an import": "导入",
  "Something went wrong in the server, not in your request; its log has it under search {1}.":
    "出错的是服务器，不是你的请求；服务器日志中的编号为 search {1}。",
  "charts are drawn for up to {1} ops; here they have {2}": "图表最多绘制 {1} 个 op；这里有 {2} 个",
  "a file of this format holds {1} ops here; the command line writes larger ones":
    "这种格式的文件在这里最多容纳 {1} 个 op；命令行可写更大的文件",
  "this is too large for one file; choose fewer micro-batches or devices":
    "内容太大，放不进一个文件；请减少微批次或设备",
  "The page's bundle is not there; whoever looks after this server runs: make setup":
    "缺少页面的打包文件；请服务器管理员运行：make setup",

  // short links
  "names have {1} to {2} letters, digits and single hyphens, such as gpipe-lesson":
    "名称为 {1} 到 {2} 个字母、数字和单个连字符，例如 gpipe-lesson",
  "the query has {1} characters; a short link takes {2}": "查询串有 {1} 个字符；短链接最多容纳 {2} 个",
  'query is the text behind the page\'s address, such as "?family=zb-h1"':
    'query 是页面地址后面的文本，例如 "?family=zb-h1"',
  "{1} new short links an hour are enough; try again in {2} min": "每小时最多新建 {1} 个短链接；请 {2} 分钟后再试",
  "this server keeps {1} short links and has them all; the long link works as ever":
    "本服务器最多保存 {1} 个短链接，现已满；长链接照常可用",
  "{1}: {2}. The long link works as ever.": "{1}：{2}。长链接照常可用。",
  "{1} is the name of another view": "{1!} 已是另一个视图的名称",
  "Short links cannot be read at present": "目前无法读取短链接",
  "Short links cannot be kept at present": "目前无法保存短链接",
  "There is no short link of this name here.": "这里没有这个名称的短链接。",
};
