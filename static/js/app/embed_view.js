// The timeline and its playback alone, as an embed and a stand-alone file show it: no panels, and nothing is written to
// the address.
import { createShortcuts } from "./shortcuts.js";
import { TimelineView } from "./timeline_view.js";
import { byId, h } from "../ui/dom.js";
import { listenKeys } from "../ui/keyboard.js";
import { t } from "../core/i18n/language.js";

/** @import {Plans} from "../data/plans.js" */
/** @import {Store} from "../data/store.js" */
/** @import {Binding} from "../ui/keyboard.js" */

/** @param {Store} store @param {Plans} plans */
export function createEmbedView(store, plans) {
  const view = new TimelineView(store, plans, { showShortcuts: () => openShortcuts(keys) });
  const keys = view.keys();
  listenKeys(keys);
  view.begin();
  return view;
}

/** All shortcuts, over the timeline. @param {Binding[]} keys */
function openShortcuts(keys) {
  const dialog = h("dialog", {
    class: "popup embed-keys",
    "aria-label": t("All shortcuts"),
    onclose: () => dialog.remove(),
  });
  dialog.append(
    h("button", { type: "button", class: "button soft", onclick: () => dialog.close() }, t("Close")),
    createShortcuts(keys),
  );
  byId("stage").append(dialog);
  dialog.showModal();
}
