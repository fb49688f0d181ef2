// The timeline and its playback alone, as an embed and a stand-alone file show it: no panels, and nothing is written to
// the address.
import { createShortcuts } from "../shortcuts.ts";
import { TimelineView } from "../timeline_view.ts";
import { byId, h } from "../../ui/dom.ts";
import { listenKeys, type Binding } from "../../ui/keyboard.ts";
import { t } from "../../core/i18n/language.ts";
import type { Plans } from "../../data/plans.ts";
import type { Store } from "../../data/store.ts";

export function createEmbedView(store: Store, plans: Plans) {
  const view = new TimelineView(store, plans, { showShortcuts: () => openShortcuts(keys) });
  const keys = view.keys();
  listenKeys(keys);
  view.begin();
  return view;
}

/** All shortcuts, over the timeline. */
function openShortcuts(keys: Binding[]) {
  const dialog = h("dialog.popup.embed-keys", { "aria-label": t("All shortcuts"), onclose: () => dialog.remove() });
  dialog.append(h("button.button.soft", { onclick: () => dialog.close() }, t("Close")), createShortcuts(keys));
  byId("stage").append(dialog);
  dialog.showModal();
}
