// Pinned ranks: they come first in their lane group and stay in sight while the others scroll. In the link as pin=0,7.
import { MOST_PINS, pinsText, readPins, togglePin } from "../../core/state/marks.js";
import { t } from "../../core/i18n/language.js";
import { announce } from "../../ui/live_region.js";

/** @import {Store} from "../../data/store.js" */

/** @param {Store} store @param {(text: string) => void} toast */
export function createPins(store, toast) {
  const current = () => readPins(store.get().view.pin) ?? {};

  return {
    current,
    /** @param {string} lane @param {number} rank */
    has: (lane, rank) => current()[lane]?.includes(rank) ?? false,
    /** @param {string} lane @param {number} rank */
    toggle(lane, rank) {
      const next = togglePin(current(), lane, rank);
      const text = pinsText(next);
      if (text && text.split(",").length > MOST_PINS) {
        toast(t("At most {n} ranks can be pinned.", { n: MOST_PINS }));
        return;
      }
      store.setView({ pin: text });
      announce(
        next[lane].includes(rank)
          ? t("Rank {rank} is pinned on top.", { rank })
          : t("Rank {rank} is no longer pinned.", { rank }),
      );
    },
  };
}
