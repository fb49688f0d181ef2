// Wires the explanations on demand together: the highlights over the ops, their toggles, and the narration line.
import { byId } from "../../ui/dom.ts";
import { afterPaint, invalidate } from "../../ui/frame_loop.ts";
import { createHighlights } from "./highlights.ts";
import { createToggles } from "./toggles.ts";
import { createNarration } from "./narration.ts";
import type { Playback } from "../interact/playback.ts";
import type { Selection } from "../interact/selection.ts";
import type { Store } from "../../data/store.ts";
import type { Timeline } from "../timeline.ts";

export function createExplain(
  store: Store,
  timeline: Timeline,
  playback: Playback,
  selection: Selection,
  titleOf: (id: string) => string,
) {
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
        (name) => state.view[name as "crit"] !== before.view[name as "crit"],
      )
    )
      afterPaint(narration.key);
  });
  new ResizeObserver(narration.key).observe(byId("legend"));
  sync();
  return { show: narration.show, keys: toggles.keys };
}
