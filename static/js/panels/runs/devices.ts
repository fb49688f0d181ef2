// The devices for runs: requested from the server until its runner has reported them; and the cluster behind the
// runner, which is watched while the tab is open.
import { createClusterPanel } from "./cluster_panel.ts";
import { createClusterWatch } from "../../data/runs/cluster_watch.ts";
import { membersOf, type Cluster } from "../../core/measured/cluster.ts";
import { getDevices } from "../../data/runs/client.ts";
import type { Devices } from "../../core/measured/devices.ts";
import type { Store } from "../../data/store.ts";

const AGAIN_MS = 2000; // between requests while the runner is not ready

/** changed: called when the devices have changed. */
export function createDevices(store: Store, changed: () => void) {
  let devices: Devices | null = null;
  let asking = 0;
  let members = "";
  const panel = createClusterPanel();
  const watch = createClusterWatch(take, panel.setLost);
  const isOpen = () => store.get().view.tab === "run";

  function take(cluster: Cluster) {
    panel.show(cluster);
    if (members && membersOf(cluster) !== members) ask(true);
    members = membersOf(cluster);
  }

  async function ask(again = false) {
    clearTimeout(asking);
    if (!again && devices?.state === "ready") return;
    devices = await getDevices().catch(() => null);
    if (devices?.engine === "ray" && isOpen()) watch.start();
    changed();
    asking = window.setTimeout(() => isOpen() && ask(), AGAIN_MS);
  }

  store.subscribe(() => {
    if (!isOpen()) watch.stop();
  });
  return {
    node: panel.node,
    /** The tab was opened. */
    open() {
      if (devices?.engine === "ray") watch.start();
      return ask();
    },
    /** Request them if they are not known. */
    ask: () => ask(),
    get known() {
      return devices;
    },
  };
}
