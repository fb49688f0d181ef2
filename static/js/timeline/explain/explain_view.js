// Wires the explanations on demand together: the highlights over the ops, their toggles, and the narration line.
import { byId } from "../../ui/dom.js";
import { afterPaint, invalidate } from "../../ui/frame_loop.js";
import { createHighlights } from "./highlights.js";
import { createToggles } from "./toggles.js";
import { createNarration } from "./narration.js";

/** @import {Playback} from "../interact/playback.js" */
/** @import {Selection} from "../interact/selection.js" */
/** @import {Store} from "../../data/store.js" */
/** @import {Timeline} from "../timeline.js" */

/** @param {Store} store @param {Timeline} timeline @param {Playback} playback @param {Selection} selection
 * @param {(id: string) => string} titleOf */
export function createExplain(store, timeline, playback, selection, titleOf) {
  const lanes = () => timeline.lanes;
  timeline.highlights = createHighlights(store);
  const toggles = createToggles({ store, lanes, traced: () => timeline.hover ?? selection.current() });
  const narration = createNarration({ store, lanes, titleOf, playback, tell: toggles.story, stepper: toggles.stepper });
  const sync = () => {
    toggles.sync();
    invalidate("figures");
  };
  store.subscribe((state, before) => {
    if (state.view === before.view) return;
    sync();
    if (
      ["crit", "micro", "lane", "planned", "late"].some(
        (name) => state.view[/** @type {"crit"} */ (name)] !== before.view[/** @type {"crit"} */ (name)],
      )
    )
      afterPaint(narration.key);
  });
  new ResizeObserver(narration.key).observe(byId("legend"));
  sync();
  return { show: narration.show, keys: toggles.keys };
}
