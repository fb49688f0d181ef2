// Where runs are to be: asks the server what there is to run on, until its runner has said it, and watches the cluster
// behind
// it where there is one.
import { createClusterPanel } from "./cluster_panel.js";
import { createClusterWatch } from "../../data/runs/cluster_watch.js";
import { membersOf } from "../../core/measured/cluster.js";
import { askDevices } from "../../data/runs/client.js";

/** @import {Cluster} from "../../core/measured/cluster.js" */
/** @import {Devices} from "../../core/measured/devices.js" */
/** @import {Store} from "../../data/store.js" */

const AGAIN_MS = 2000; // until the runner is asked for again that was not there

/** @param {Store} store @param {() => void} changed there is something else to run on */
export function createWhere(store, changed) {
  /** @type {Devices | null} */
  let devices = null;
  let asking = 0;
  let members = "";
  const panel = createClusterPanel();
  const watch = createClusterWatch(take, panel.lose);
  const looking = () => store.get().view.tab === "run";

  /** @param {Cluster} told */
  function take(told) {
    panel.show(told);
    if (members && membersOf(told) !== members) ask(true);
    members = membersOf(told);
  }

  async function ask(again = false) {
    clearTimeout(asking);
    if (!looking() || (!again && devices?.state === "ready")) return;
    devices = await askDevices().catch(() => null);
    if (devices?.engine === "ray") watch.start();
    changed();
    asking = window.setTimeout(ask, AGAIN_MS);
  }

  store.subscribe(() => {
    if (!looking()) watch.stop();
  });
  return {
    node: panel.node,
    /** Somebody looks. */
    open() {
      if (devices?.engine === "ray") watch.start();
      return ask();
    },
    get devices() {
      return devices;
    },
  };
}
