// The sliders of <bubble-line> and its choice of families.
import { CONSTRUCTED } from "../core/families/construct.ts";
import { t } from "../core/i18n/language.ts";
import { formatNumber } from "../core/i18n/numbers.ts";
import { h, setText } from "../ui/dom.ts";
import { costStops, including, wholeStops } from "../ui/fields/slider_stops.ts";
import type { ChunkRange, Spec } from "../core/schedule/types.ts";
import type { Control } from "./attributes.ts";

type ControlRow = { row: HTMLElement; write: (spec: Spec) => void };
type Change = (name: string, value: string | number) => void;

const MOST = { p: 32, m: 128, v: 8 };

/** range: of v. */
export function controlRows(wanted: Control[], range: ChunkRange, change: Change): ControlRow[] {
  const makers: Partial<Record<Control, () => ControlRow>> = {
    family: () => familyRow(change),
    p: () => slider("p", t("Devices p"), (value) => including(wholeStops(1, MOST.p), value), change),
    m: () => slider("m", t("Micro-batches m"), (value) => including(wholeStops(1, MOST.m), value), change),
    v: () =>
      slider("v", t("Chunks v"), (value) => including(wholeStops(1, Math.min(MOST.v, range.max)), value), change),
    f: () => slider("f", t("Forward F"), costStops, change),
    i: () => slider("i", t("Input grad I"), costStops, change),
    w: () => slider("w", t("Weight grad W"), costStops, change),
    comm: () => slider("comm", t("Hop (p2p) c"), costStops, change),
  };
  return wanted.flatMap((name) => (name === "v" && range.min === range.max ? [] : [makers[name]?.() ?? []])).flat();
}

const valueOf = ({ p, m, v, costs }: Spec, name: string) =>
  ({ p, m, v, f: costs.F, i: costs.I, w: costs.W, comm: costs.comm })[name] ?? 0;

/** name: of the attribute. */
function slider(name: string, label: string, stopsFor: (value: number) => number[], change: Change): ControlRow {
  const input = h("input", { type: "range", min: 0, step: 1, "aria-label": label });
  const out = h("b");
  let stops: number[] = [];
  input.addEventListener("input", () => change(name, stops[Number(input.value)]));
  return {
    row: h("label", h("span", { text: label }), out, input),
    write(spec) {
      const value = Number(valueOf(spec, name));
      stops = stopsFor(value);
      input.max = String(stops.length - 1);
      input.value = String(stops.indexOf(value));
      input.setAttribute("aria-valuetext", formatNumber(value));
      setText(out, formatNumber(value));
    },
  };
}

function familyRow(change: Change): ControlRow {
  const select = h(
    "select",
    { "aria-label": t("Schedule"), onchange: () => change("family", select.value) },
    ...Object.entries(CONSTRUCTED).map(([value, { title }]) => h("option", { value, text: title })),
  );
  return {
    row: h("label", h("span", { text: t("Schedule") }), select),
    write(spec) {
      select.value = spec.family;
    },
  };
}
