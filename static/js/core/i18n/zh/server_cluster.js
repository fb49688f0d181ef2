// What the server and the runner say of a cluster: its hosts, what a run waits for there, and what was lost.

/** @type {import("../language.js").Catalogue} */
export const CLUSTER = {
  "{1} {2} needs a cluster: start the server with make run ENGINE=ray, or leave it out":
    "{1!} {2!} 需要集群：请用 make run ENGINE=ray 启动服务器，或不要给出它",
  // while it runs
  "measured hops go with paced mode: in free mode the length of a time unit is not known before the run":
    "实测跳时间只用于按节拍（paced）模式：自由（free）模式下，时间单位的长度在运行之前未知",
};
