// The state of the cluster behind the server, by the socket: at once and after every change, while it is watched.
import { connect } from "./client.js";

/** @import {Cluster} from "../../core/measured/cluster.js" */

/**
 * @param {(cluster: Cluster) => void} update
 * @param {(lost: boolean) => void} lost the connection, or that it is back
 */
export function createClusterWatch(update, lost) {
  let watching = false;
  /** @type {import("socket.io-client").Socket | null} */
  let line = null;

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
      line.on("cluster", (/** @type {Cluster} */ message) => {
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
