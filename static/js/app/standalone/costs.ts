// Sliders for F, I, W and comm over all plans at once: a plan's own cost, or list of costs, grows in the same ratio.
import { h, setText } from "../../ui/dom.ts";
import { t } from "../../core/i18n/language.ts";
import type { Spec } from "../../core/schedule/types.ts";

type Name = "F" | "I" | "W" | "comm";
type Slider = { name: Name; label: string; input: HTMLInputElement; out: HTMLElement; first: number };

const STEPS = 400;
const ROOM = 4; // a slider ends at this many times the largest cost

/** A device's share: of a list, one entry a stage, the sum over the devices. */
const share = (cost: number | number[], p: number) =>
  Array.isArray(cost) ? cost.reduce((sum, x) => sum + x, 0) / p : cost;

/** A cost when the first plan's goes from one value to another. */
function moved(cost: number | number[], from: number, to: number) {
  if (from === to) return cost;
  if (from === 0) return to;
  return Array.isArray(cost) ? cost.map((x) => (x * to) / from) : (cost * to) / from;
}

/** specs: of the file. */
export function createCostSliders(specs: Spec[], textOf: (time: number) => string, onChange: () => void) {
  const { p, costs } = specs[0];
  const most = ROOM * Math.max(...(["F", "I", "W"] as const).map((name) => share(costs[name], p)), costs.comm) || 1;
  const step = 10 ** Math.floor(Math.log10(most / STEPS));

  const sliders: Slider[] = (
    [
      ["F", t("forward")],
      ["I", t("input gradient")],
      ["W", t("weight gradient")],
      ["comm", t("latency of a hop")],
    ] as [Name, string][]
  ).map(([name, label]) => {
    const first = share(costs[name], p);
    const input = h("input", {
      type: "range",
      min: 0,
      max: most,
      step,
      id: `cost-${name}`,
      "aria-label": `${name}: ${label}`,
    });
    input.value = String(first);
    input.addEventListener("input", () => {
      write();
      onChange();
    });
    return { name, label, input, out: h("b.embed-value"), first };
  });

  /** The value of the slider, or of the file where it was not moved: a range input rounds. */
  const valueOf = ({ input, first }: Slider) =>
    Math.abs(Number(input.value) - first) < step / 2 ? first : Number(input.value);

  function write() {
    for (const slider of sliders) {
      const text = textOf(valueOf(slider));
      setText(slider.out, text);
      slider.input.setAttribute("aria-valuetext", text);
    }
  }

  write();
  return {
    rows: sliders.map(({ name, label, input, out }) =>
      h(
        "label.embed-cost",
        { title: label },
        h("span.cut.embed-label", h("b", { text: name }), ` ${label}`),
        out,
        input,
      ),
    ),
    isChanged: () => sliders.some((slider) => valueOf(slider) !== slider.first),
    /** A schedule with the costs of the sliders. spec: with those of the file. */
    costed(spec: Spec) {
      const now = { ...spec.costs };
      for (const slider of sliders)
        Object.assign(now, { [slider.name]: moved(spec.costs[slider.name], slider.first, valueOf(slider)) });
      return { ...spec, costs: now };
    },
    reset() {
      for (const { input, first } of sliders) input.value = String(first);
      write();
    },
  };
}
