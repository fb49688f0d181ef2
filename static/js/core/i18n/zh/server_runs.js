// Runs: the queue, the runner and its workers, and what a run can fail by.

/** @type {import("../language.js").Catalogue} */
export const RUNS = {
  // the queue and the store
  "{1} runs wait already; try again soon": "已有 {1} 个运行在等待；请稍后再试",
  "{1} runs of yours wait already; cancel one or try again soon": "你已有 {1} 个运行在等待；请取消一个或稍后再试",
  "This run is over already ({1}).": "此运行已经结束（{1!}）。",
  "This run is not over yet.": "此运行尚未结束。",
  "This run is under way; cancel it first.": "此运行正在进行；请先取消。",
  "The server's disk does not take this run: it is shown for now, and gone when the server stops.":
    "服务器磁盘写不下此运行：目前仍可显示，服务器停止后即消失。",
  "{1} of {2} ops have ended, and this needs all of them.": "{2} 个 op 中结束了 {1} 个，而这需要全部。",
  "name must be a text of at most {1} characters in one line": "name 必须是一行文字，至多 {1} 个字符",
  "There is no run with this id.": "没有这个 id 的运行。",
  "The server stopped while this run was under way; start it again.": "运行期间服务器停止；请重新启动该运行。",
  "{1} was written by a newer Bubbleline (schema {2}, here {3})":
    "{1!} 由更新版本的 Bubbleline 写入（schema {2}，此处为 {3}）",
  "{1} cannot be used: {2}": "{1!} 无法使用：{2!}",
  "{1} is not open": "{1} 未打开",
  "limit must be a whole number from 1 to {1}": "limit 必须是 1 到 {1} 之间的整数",
  "This run has {1} events so far; load it anew and ask from there.":
    "此运行目前有 {1} 个事件；请重新载入后再从那里开始。",
  "One page can watch {1} runs.": "一个页面最多观看 {1} 个运行。",
  "There are the events watch, unwatch, watch_cluster, unwatch_cluster, search and search_stop.":
    "可用的事件有 watch、unwatch、watch_cluster、unwatch_cluster、search 与 search_stop。",
  "since must be the number of an event, 0 for all": "since 必须是事件编号，0 表示全部",
  "run must be the id of a run": "run 必须是某个运行的 id",
  "search takes one object with spec, seconds": "search 需要一个含有 spec、seconds 的对象",

  // the runner's process
  "The runner {1} during this run. A new one is being started; try again.":
    "runner 在此运行期间{1}。正在启动新的 runner；请重试。",
  "The runner {1} before it was ready; the server's log says more.": "runner 在就绪之前{1}；详见服务器日志。",
  "The runner does not start: {1}.": "runner 无法启动：{1}。",
  "the server is stopping": "服务器正在停止",
  "was ended by signal {1}": "被信号 {1!} 终止",
  "ended with exit code {1}": "以退出码 {1} 结束",
  "The runner stopped just before this run; try again.": "runner 在此运行开始前停止；请重试。",
  "The runner said nothing for {1} s; it is being restarted.": "runner 已有 {1} s 没有响应；正在重启。",
  "The runner sent something that cannot be read; it is being restarted.": "runner 发来无法读取的内容；正在重启。",
  "the runner ended with exit code {1} before the run was over": "运行结束之前 runner 以退出码 {1} 退出",
  "the runner sent {1} that are not rows of {2} whole numbers": "runner 发来的 {1} 不是每行 {2} 个整数",
  "rows are some of {1}, separated by commas, or {2}": "rows 取 {1} 中的若干项，以逗号分隔，或取 {2}",
  "the runner sent an unknown event: {1}": "runner 发来未知事件：{1!}",

  // before a run starts
  "unit_ms goes with paced mode; free mode has no pace": "unit_ms 只用于按节拍（paced）模式；自由（free）模式没有节拍",

  // what it runs on
  "model name": "型号名称",
  "there is no GPU to run on": "此处没有可供运行的 GPU",

  // what came of it
  "the socket is closed": "连接已关闭",
};
