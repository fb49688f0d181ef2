// Layers moved between the stages of a measured step: how many a stage has, and the split that makes the step shortest.
import { h } from "../../ui/dom.ts";
import { t } from "../../core/i18n/language.ts";
import { formatPercent } from "../../core/i18n/numbers.ts";
import type { Diagnosis } from "../../data/runs/diagnosis.ts";
import type { Spec } from "../../core/schedule/types.ts";

/** ask: for the split of so many layers. put: shows a spec on the timeline. */
export function layersForm({ layers }: Diagnosis, ask: (layers: string) => void, put: (spec: Spec) => void) {
  const field = h("input#diagnosis-layers", {
    type: "text",
    required: true,
    maxlength: 2000,
    spellcheck: "false",
    autocomplete: "off",
    placeholder: "8",
    value: layers ? textOf(layers.before) : "",
  });
  const form = h(
    "form.row",
    {
      onsubmit: (event: Event) => {
        event.preventDefault();
        ask(field.value);
      },
    },
    h("label", { for: "diagnosis-layers", text: t("Layers of a stage, or of each with commas, or Megatron's layout") }),
    field,
    h("button.button.soft", { type: "submit" }, t("Find a split")),
  );
  return h(
    "details.diagnosis-layers",
    { open: layers !== null },
    h("summary", { text: t("Move layers between stages") }),
    form,
    ...(layers ? resultOf(layers, put) : []),
  );
}

function resultOf({ before, after, saves, layout, spec }: NonNullable<Diagnosis["layers"]>, put: (spec: Spec) => void) {
  if (saves <= 0) return [h("p", { text: t("No other split is found that is faster.") })];
  const words = { after: textOf(after), before: textOf(before), share: formatPercent(saves) };
  return [
    h("p", {
      text: t("Layers {after} in place of {before} save {share} of the step. Memory is not looked at.", words),
    }),
    layout ? h("p", h("code", { text: `--pipeline-model-parallel-layout '${layout}'` })) : "",
    h("button.button.soft", { onclick: () => put(spec) }, t("Put the step with this split on the timeline")),
  ];
}

/** One number where all are alike. */
const textOf = (layers: number[]) => (new Set(layers).size === 1 ? String(layers[0]) : layers.join(","));
