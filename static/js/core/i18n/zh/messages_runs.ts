// Messages of the server by their codes: the queue, the runner's process, stored runs, their files, imports.

import type { Catalogue } from "../language.ts";

export const RUNS_MESSAGES: Catalogue = {
  // the queue
  "database.busy": "已被锁定，或响应时间过长",

  // places of keys
  "database.full": "其磁盘或内存已满",
  "database.read_only": "目前为只读",
  "database.refused": "其服务器拒绝该用户或密码",
  "database.stopping": "其服务器正在停止或启动",
  "database.unreachable": "无法连接其服务器，或服务器拒绝连接",
  "runs.a_run": "运行",
  "runs.already_over": "此运行已经结束（{status}）。",
  "runs.an_import": "导入",

  // sockets
  "runs.bad_cluster": "runner 发来的集群信息中，{key} 无法读取",

  // options of a run
  "runs.bad_failure": "runner 发来的失败没有说明",
  "runs.bad_progress": "runner 发来的进度无法读取",
  "runs.bad_rows": "runner 发来的 {kind} 不是每行 {width} 个整数",
  "runs.cluster_runner_ended": "runner {how}；正在启动新的 runner。",
  "runs.csv_text": "csv 是 torch 的 CSV 文本：每个 rank 一行，例如 0F0,0F1,0B0,0B1",
  "runs.database_closed": "{path} 未打开",
  "runs.database_unusable": "{path} 无法使用：{error}",
  "runs.ended_before_run": "运行结束之前 runner 以退出码 {code} 退出",
  "runs.ended_by_signal": "被信号 {signal} 终止",
  "runs.ended_with_code": "以退出码 {code} 结束",
  "runs.family_missing": "请给出调度族 FAMILY（例如 1f1b），或用 --csv 给出文件",

  // stored runs and their files
  "runs.family_or_csv": "请给出 FAMILY 或 --csv FILE，不可两者都给",
  "runs.forward_only_has_one_step": "仅前向的运行不做训练，因此只有一步：请增加微批次",
  "runs.gzip_cut_off": "gzip 压缩的请求体不完整。",
  "runs.gzip_too_large": "gzip 压缩的请求体解压后超过 {mb} MB。",
  "runs.import_is_json": "请求体必须是 JSON，并以 Content-Type: application/json 发送；可用 gzip 压缩。",
  "runs.imports_share": "每小时最多导入 {most} 次运行；请稍后再试",
  "runs.in_progress": "此运行正在进行；请先取消。",
  "runs.incomplete": "{all} 个 op 中结束了 {ended} 个，而这需要全部。",
  "runs.key_twice": "{key} 在地址中出现多次",
  "runs.list_limit": "limit 必须是 1 到 {most} 之间的整数",
  "runs.manager_failed": "执行运行的进程在此出错；详情见其日志。",
  "runs.measured_hops_are_for_paced":
    "实测跳时间只用于按节拍（paced）模式：自由（free）模式下，时间单位的长度在运行之前未知",
  "runs.missing_fields": "runner 的 {kind} 行缺少 {names}",
  "runs.name": "name 必须是一行文字，至多 {most} 个字符",
  "runs.needs_cluster": "{key} {value} 需要集群：请用 make run ENGINE=ray 启动服务器，或不要给出它",
  "runs.newer_schema": "{path} 由更新版本的 Bubbleline 写入（schema {version}，此处为 {known}）",
  "runs.no_gpu": "此处没有可供运行的 GPU",
  "runs.no_manager": "此服务器目前没有执行运行的进程；请在 {seconds} s 后重试。",
  "runs.no_reason": "runner 没有说明原因。",
  "runs.no_redis": "服务器与 Redis 的连接已断开；请查看运行列表，并在 {seconds} s 后重试。",
  "runs.not_begun": "服务器在此运行开始之前停止；请重新启动该运行。",
  "runs.not_deleted": "服务器的磁盘目前无法写入，因此未删除任何内容；请重试。",
  "runs.not_gzip": "请求体开头像 gzip，但并不是：{error}",
  "runs.not_loaded": "服务器的磁盘目前无法读取；请重试。",

  // the runner's process
  "runs.not_over": "此运行尚未结束。",
  "runs.not_stored": "服务器未能把此运行写入磁盘：服务器停止后即消失。",
  "runs.one_object": "{event} 需要一个含有 {keys} 的对象",
  "runs.queue_full": "已有 {waiting} 个运行在等待；请稍后再试",
  "runs.queue_share": "你已有 {waiting} 个运行在等待；请取消一个或稍后再试",
  "runs.redis_unusable": "无法使用 {address} 上的 Redis：{error}",
  "runs.renaming": "新名称",
  "runs.row_kinds": "rows 取 {kinds} 中的若干项，以逗号分隔，或取 {none}",
  "runs.run_id": "run 必须是某个运行的 id",
  "runs.runner_ended": "runner 在此运行期间{how}。正在启动新的 runner；请重试。",
  "runs.runner_ended_early": "runner 在就绪之前{how}；详见服务器日志。",
  "runs.runner_illegible": "runner 发来无法读取的内容；正在重启。",
  "runs.runner_not_started": "runner 无法启动：{reason}。",
  "runs.runner_silent": "runner 已有 {seconds} s 没有进展；正在重启。",
  "runs.runner_stopped": "runner 在此运行开始前停止；请重试。",
  "runs.server_restarting": "服务器正在停止；请稍后再试。",
  "runs.server_stopped": "运行期间服务器停止；请重新启动该运行。",
  "runs.server_stopping": "服务器正在停止",
  "runs.server_stops_soon": "服务器将在 {seconds} 秒后停止，此运行也随之结束。",
  "runs.since": "since 必须是事件编号，0 表示全部",
  "runs.since_too_large": "此运行目前有 {count} 个事件；请重新载入后再从那里开始。",
  "runs.socket_events": "可用的事件有 {events}。",

  // imports
  "runs.too_long": "此运行大约需要 {seconds} s；此服务器最多接受 {limit} s 的运行。",
  "runs.too_many_ranks": "这里一次运行最多有 {most} 个 rank，而此调度有 {ranks} 个设备",
  "runs.trace_body": "请求体应为一个 Chrome trace，或一个对象，其 {key} 为列表，每个 rank 一个",
  "runs.trace_not_json": "trace 不是 JSON：{error}",
  "runs.trace_not_whole": "trace 不是一个完整的训练步：{missing}（找到 op {ops} 个，rank {ranks} 个）",
  "runs.trace_too_long": "一步的 {length} ms 超过 {most} ms：它的时间单位是 us 吗？",
  "runs.unit_ms_is_for_paced": "unit_ms 只用于按节拍（paced）模式；自由（free）模式没有节拍",
  "runs.unknown": "没有这个 id 的运行。",
  "runs.unknown_event": "runner 发来未知事件：{name}",
  "runs.unreadable": "此运行已存储，但已损坏，无法读取；请将其删除。",
  "runs.watch_share": "一个页面最多观看 {most} 个运行。",
};
