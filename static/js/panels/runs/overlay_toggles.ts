// The overlays of measured lanes as buttons and keys: the plan's ops below the measured ones, and colours by lateness.
import { h } from "../../ui/dom.ts";
import { t } from "../../core/i18n/language.ts";
import { binding, type Binding } from "../../ui/keyboard.ts";
import type { Store } from "../../data/store.ts";

export function createOverlayToggles(store: Store) {
  const turn = (name: "planned" | "late") => () => store.setView({ [name]: store.get().view[name] ? null : "1" });
  const planned = h(
    "button#show-planned.button.soft",
    { onclick: turn("planned"), title: t("Draws the planned position of each op below it (O)") },
    t("Overlay the plan"),
  );
  const late = h(
    "button#show-late.button.soft",
    {
      onclick: turn("late"),
      title: t("Colours measured ops by how much later or earlier than planned they ended (R)"),
    },
    t("Colour by lateness"),
  );
  const node = h("span.row.run-shows", planned, late);

  function sync() {
    const { view } = store.get();
    planned.setAttribute("aria-pressed", String(view.planned !== null));
    late.setAttribute("aria-pressed", String(view.late !== null));
  }

  sync();
  store.subscribe((state, before) => {
    if (state.view !== before.view) sync();
  });
  const keys = (): Binding[] => {
    const section = t("Explain");
    return [
      binding(section, ["o", "O"], "O", t("overlay the plan on measured ops: on and off"), turn("planned")),
      binding(section, ["r", "R"], "R", t("colour measured ops by lateness: on and off"), turn("late")),
    ];
  };
  return { node, keys };
}
