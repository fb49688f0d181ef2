// The cluster behind the server, told anew whenever it changes, for as long as somebody looks. Knows no screen.
import { connect } from "./client.js";

/** @import {Cluster} from "../../core/measured/cluster.js" */

/** @param {(told: Cluster) => void} told @param {(lost: boolean) => void} lost the connection, or that it is back */
export function createClusterWatch(told, lost) {
  let watching = false;
  /** @type {import("socket.io-client").Socket | null} */
  let line = null;

  const ask = () => {
    if (!watching || !line) return;
    lost(false);
    line.emit("watch_cluster", {});
  };
  const gone = () => {
    if (watching) lost(true);
  };

  async function start() {
    if (watching) return;
    watching = true;
    const socket = await connect();
    if (!line) {
      line = socket;
      line.on("cluster", (/** @type {Cluster} */ message) => {
        if (watching) told(message);
      });
      line.on("connect", ask);
      line.on("disconnect", gone);
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
