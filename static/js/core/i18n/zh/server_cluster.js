// What the server and the runner say of a cluster: its hosts, what a run waits for there, and what was lost.

/** @type {import("../language.js").Catalogue} */
export const CLUSTER = {
  "the runner sent a cluster whose {1} cannot be read": "runner 发来的集群信息中，{1!} 无法读取",
  "the runner sent a cluster whose hosts cannot be read": "runner 发来的集群信息中，主机无法读取",
  "The runner {1}; a new one is being started.": "runner {1}；正在启动新的 runner。",
  "{1} {2} needs a cluster: start the server with make run ENGINE=ray, or leave it out":
    "{1!} {2!} 需要集群：请用 make run ENGINE=ray 启动服务器，或不要给出它",
  // while it runs
  "measured hops go with paced mode: in free mode the length of a time unit is not known before the run":
    "实测跳时间只用于按节拍（paced）模式：自由（free）模式下，时间单位的长度在运行之前未知",
};
