// The switches of what a measured lane shows beside its ops: where the plan had them, and how late they were. Buttons
// and
// keys do the same; the state is the link's.
import { h } from "../../ui/dom.js";
import { t } from "../../core/i18n/language.js";

/** @import {Binding} from "../../ui/keyboard.js" */
/** @import {Store} from "../../data/store.js" */

/** @param {Store} store */
export function createShowing(store) {
  const turn = (/** @type {"planned" | "late"} */ name) => () =>
    store.setView({ [name]: store.get().view[name] ? null : "1" });
  const planned = h(
    "button",
    {
      type: "button",
      class: "button soft",
      id: "show-planned",
      onclick: turn("planned"),
      title: t("Under each measured op, thin, where the plan had it (O)"),
    },
    t("Show the plan under it"),
  );
  const late = h(
    "button",
    {
      type: "button",
      class: "button soft",
      id: "show-late",
      onclick: turn("late"),
      title: t("Colours measured ops by how much later or earlier than planned they ended (R)"),
    },
    t("Colour by lateness"),
  );
  const node = h("span", { class: "run-shows" }, planned, late);

  function sync() {
    const { view } = store.get();
    planned.setAttribute("aria-pressed", String(view.planned !== null));
    late.setAttribute("aria-pressed", String(view.late !== null));
  }

  sync();
  store.subscribe((state, before) => {
    if (state.view !== before.view) sync();
  });
  /** @returns {Binding[]} */
  const keys = () => {
    const section = t("Explain");
    return [
      {
        section,
        keys: ["o", "O"],
        label: "O",
        description: t("where the plan had the ops of a run: show and hide"),
        act: turn("planned"),
      },
      {
        section,
        keys: ["r", "R"],
        label: "R",
        description: t("the ops of a run by how late they were: on and off"),
        act: turn("late"),
      },
    ];
  };
  return { node, keys };
}
