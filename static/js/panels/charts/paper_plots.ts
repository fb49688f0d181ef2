// The three plots of "Pipeline Parallelism with Controllable Memory" (Qi et al. 2024): MFU against the memory of
// activations, each with its model and its number of devices. One click puts the whole setting into the state.
import { plainPreset } from "../../core/state/link_preset.ts";
import { t } from "../../core/i18n/language.ts";
import { h } from "../../ui/dom.ts";
import type { Store } from "../../data/store.ts";

/** Title, model, devices. */
const PLOTS: [string, string, number][] = [
  ["9.6B", "cm-9.6b", 16],
  ["21B", "cm-21b", 24],
  ["38.5B", "cm-38.5b", 32],
];
const MACHINE = "a100";
const MICRO_BATCHES = 2; // per device: the fewest with which every schedule of the plots reaches its steady state

export function paperPlots(store: Store) {
  function put(model: string, p: number) {
    const { defaults } = store;
    const { view } = store.get();
    store.set(
      {
        spec: { ...defaults, family: "v-half", v: 2, p, m: MICRO_BATCHES * p },
        others: [],
        preset: { ...plainPreset(model), machine: MACHINE, heads: true },
        view: { ...view, chart: "pareto:mfu-activations" },
      },
      "push",
    );
  }
  return h(
    "p.row.fine.paper-plots",
    {
      title: t(
        "Models, devices and machine of the paper. Micro-batch 1, two micro-batches a device and 45 % efficiency are " +
          "assumed.",
      ),
    },
    t("Plots of Qi et al. 2024, arXiv 2405.15362:"),
    ...PLOTS.flatMap(([title, model, p]) => [
      " ",
      h(
        "button.link",
        { "data-plot": model, onclick: () => put(model, p) },
        t("{model} on {p} devices", { model: title, p }),
      ),
    ]),
  );
}
