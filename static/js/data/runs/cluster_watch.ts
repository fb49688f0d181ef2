// The state of the cluster behind the server, by the socket: at once and after every change, while it is watched.
import { connect } from "./client.ts";
import type { Cluster } from "../../core/measured/cluster.ts";
import type { Socket } from "socket.io-client";

/** lost: the connection, or that it is back. */
export function createClusterWatch(update: (cluster: Cluster) => void, lost: (lost: boolean) => void) {
  let watching = false;
  let line: Socket | null = null;

  const ask = () => {
    if (!watching || !line) return;
    lost(false);
    line.emit("watch_cluster", {});
  };
  const disconnected = () => {
    if (watching) lost(true);
  };

  async function start() {
    if (watching) return;
    watching = true;
    const socket = await connect();
    if (!line) {
      line = socket;
      line.on("cluster", (message: Cluster) => {
        if (watching) update(message);
      });
      line.on("connect", ask);
      line.on("disconnect", disconnected);
    }
    if (line.connected) ask();
  }

  function stop() {
    if (!watching) return;
    watching = false;
    if (line?.connected) line.emit("unwatch_cluster", {});
  }

  return { start, stop };
}
