// What the server and the runner say of a cluster: its hosts, what a run waits for there, and what was lost.

/** @type {import("../language.js").Catalogue} */
export const CLUSTER = {
  "{1} {2} needs a cluster: start the server with make run ENGINE=ray, or leave it out":
    "{1!} {2!} 需要集群：请用 make run ENGINE=ray 启动服务器，或不要给出它",
  // joining a cluster
  "the engine ray needs {1}: pip install -r requirements-cluster.txt":
    "ray 引擎需要 {1!}：pip install -r requirements-cluster.txt",
  "the address of a Ray cluster is HOST:PORT such as 10.0.0.1:6379, not {1}":
    "Ray 集群的地址形如 HOST:PORT，例如 10.0.0.1:6379，而不是 {1!}",
  "no Ray cluster answers at {1} ({2}); is its head running?": "{1!} 处没有 Ray 集群应答（{2}）；它的头节点在运行吗？",
  "no answer": "没有应答",
  "the Ray cluster at {1}": "{1!} 处的 Ray 集群",
  "a Ray cluster on this host": "本机上的 Ray 集群",
  "{1} did not let this host in within {2} s": "{1} 在 {2} s 内没有让本机加入",
  "{1} cannot be used: {2}{3}": "{1} 无法使用：{2!}{3}",
  "; is this host one of it? ray start --address={1} --num-cpus=0":
    "；本机属于它吗？ray start --address={1!} --num-cpus=0",
  "{1}: others may read {2} (mode {3}); make it yours alone: chmod 600 {4}":
    "{1!}：其他人可以读取 {2!}（模式 {3!}）；请设为仅自己可读：chmod 600 {4!}",
  "{1}: {2} cannot be read ({3}); name the file with the cluster's token there, or set {4}=disabled for a cluster that has none":
    "{1!}：{2!} 无法读取（{3!}）；请在那里给出集群令牌文件的名称；若集群没有令牌，请设 {4!}=disabled",
  "the head of the Ray cluster at {1} has not answered for {2} s": "{1!} 处 Ray 集群的头节点已有 {2} s 没有应答",
  "this host is no longer one of the Ray cluster at {1}": "本机已不属于 {1!} 处的 Ray 集群",

  // places for ranks
  "{1} of {2} ranks have a place; each asks for {3}; free: {4}":
    "{2} 个 rank 中有 {1} 个已有位置；每个需要 {3}；空闲：{4!}",
  "no host has any": "没有主机有空闲",
  "there was no place for this run in {1} s: {2}": "{1} s 内没有此运行的位置：{2}",
  "on a cluster every rank has a GPU of its own, and there are {1} for {2} ranks":
    "在集群上每个 rank 独占一块 GPU，而 {2} 个 rank 只有 {1} 块",
  "ranks cannot be started on this cluster: {1}": "无法在此集群上启动 rank：{1}",
  "a host went while ranks were given places": "为 rank 分配位置时有主机离开",
  "a rank on {1} has not started in {2} s": "{1!} 上的一个 rank 在 {2} s 内没有启动",
  "a rank on {1} has not started: {2}": "{1!} 上的一个 rank 没有启动：{2!}",
  "{1} has too little memory for a rank": "{1!} 的内存不足以容纳一个 rank",
  "host {1} cannot be reached from here": "从这里无法到达主机 {1!}",
  "not wanted any more": "不再需要",

  // while it runs
  "rank {1} on {2} was lost": "{2!} 上的 rank {1} 失联",
  "rank {1}'s {2} was lost": "rank {1} 的 {2} 失联",
  "rank {1}'s {2} ended": "rank {1} 的 {2} 结束",
  "rank {1}'s {2} ended ({3})": "rank {1} 的 {2} 结束（{3}）",
  "its {1} is stopped": "其{1}已被暂停",
  "process {1} on {2}": "{2!} 上的进程 {1}",
  "host {1} ({2}) is gone": "主机 {1!} ({2!}) 已离开",
  "nothing has come from host {1} ({2}) for {3} s": "主机 {1!} ({2!}) 已有 {3} s 没有消息",
  "measured hops go with paced mode: in free mode the length of a time unit is not known before the run":
    "实测跳时间只用于按节拍（paced）模式：自由（free）模式下，时间单位的长度在运行之前未知",
};
