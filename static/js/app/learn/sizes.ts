// The sliders beside a lesson: p, m and v of the schedules on the screen.
import { t } from "../../core/i18n/language.ts";
import { formatNumber } from "../../core/i18n/numbers.ts";
import { withField } from "../../data/spec_fields.ts";
import { invalidate } from "../../ui/frame_loop.ts";
import { h, setText, show } from "../../ui/dom.ts";
import { including, wholeStops } from "../../ui/fields/slider_stops.ts";
import type { Spec } from "../../core/schedule/types.ts";
import type { Plans } from "../../data/plans.ts";
import type { Store } from "../../data/store.ts";

type Size = "p" | "m" | "v";

const MOST = { p: 32, m: 128, v: 8 };
const MOST_CORRECTIONS = 4; // of one drag: a family's nearest legal value may need another

export function createSizes(store: Store, plans: Plans, home: HTMLElement) {
  let corrections = MOST_CORRECTIONS;
  let allowed: string[] | null = null; // null: every slider is free
  const rows = [
    sizeRow("p", t("Devices p"), () => wholeStops(1, MOST.p)),
    sizeRow("m", t("Micro-batches m"), () => wholeStops(1, MOST.m)),
    sizeRow("v", t("Chunks v"), () => {
      const [least, most] = chunks();
      return wholeStops(least, Math.min(MOST.v, most));
    }),
  ];
  home.append(...rows.map(({ node }) => node));

  /** The range of v over the schedules that have one. */
  function chunks() {
    const { spec, others } = store.get();
    const ranges = [spec, ...others].map(({ family }) => plans.family(family)?.v).filter((v) => v && v.max > v.min);
    return ranges.length
      ? [Math.max(...ranges.map((v) => v?.min ?? 1)), Math.min(...ranges.map((v) => v?.max ?? 1))]
      : [1, 1];
  }

  function change(name: Size, value: number) {
    const changed = (spec: Spec) => {
      const range = plans.family(spec.family)?.v;
      return name === "v" && !(range && range.max > range.min) ? spec : withField(spec, name, value);
    };
    const { spec, others } = store.get();
    store.set({ spec: changed(spec), others: others.map(changed) }, "none");
  }

  function sizeRow(name: Size, label: string, stopsOf: () => number[]) {
    const input = h("input", { type: "range", min: 0, step: 1, "aria-label": label, id: `size-${name}` });
    const out = h("b");
    const node = h("label.view-size", h("span", { text: label }), out, input);
    let stops: number[] = [];
    input.addEventListener("input", () => {
      corrections = MOST_CORRECTIONS;
      change(name, stops[Number(input.value)]);
    });
    function sync() {
      const { spec, others } = store.get();
      const owner =
        name === "v" ? ([spec, ...others].find((each) => (plans.family(each.family)?.v.max ?? 1) > 1) ?? spec) : spec;
      const value = owner[name];
      stops = including(stopsOf(), value);
      input.max = String(stops.length - 1);
      input.value = String(stops.indexOf(value));
      input.setAttribute("aria-valuetext", formatNumber(value));
      setText(out, formatNumber(value));
      show(node, name !== "v" || stops.length > 1);
      input.disabled = allowed !== null && !allowed.includes(name);
      node.classList.toggle("is-asked", allowed?.includes(name) ?? false);
    }
    return { node, sync, input };
  }

  const sync = () => rows.forEach((row) => row.sync());
  store.subscribe((state, before) => {
    if (state.spec !== before.spec || state.others !== before.others) sync();
  });
  plans.onAnswer(() => {
    const wrong = plans.onScreen().find((plan) => plan.error);
    const { field, nearest } = wrong?.error ?? {};
    if (!field || !["p", "m", "v"].includes(field) || typeof nearest !== "number" || corrections-- <= 0) return;
    change(field as Size, nearest);
    invalidate("figures");
  });
  sync();
  return {
    inputs: rows.map(({ input }) => input),
    /** The sliders that a question leaves free; null: all of them. */
    allow(names: string[] | null) {
      allowed = names;
      sync();
    },
  };
}
