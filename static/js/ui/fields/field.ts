// One number with a slider and a box: arrows step, typed values commit on Enter or on leaving, the wheel never changes
// it.
import { h, replace, sentence, setText, show } from "../dom.ts";
import { TypedBox } from "./typed_box.ts";
import { t, tr } from "../../core/i18n/language.ts";
import { packed, type Read } from "../../core/state/link_fields.ts";
import { formatNumber } from "../../core/i18n/numbers.ts";
import { isLayout, readLayout, type StageLayout } from "../../core/state/megatron_layout.ts";

export type FieldOptions = {
  name: string; // the field of the spec
  symbol: string; // as papers write it
  caption?: string; // a longer label in place of the symbol
  stacked?: boolean; // with the label on a line of its own
  percent?: boolean; // a share, shown as a percentage
  label: string; // in words
  stops: () => number[]; // where the slider stops, ascending
  step: number; // of the arrow keys in the box
  empty?: string; // what an empty box means, where null is legal
  list?: boolean; // takes one entry a stage, comma separated
  boxOnly?: boolean; // a wide box without a slider
  layout?: boolean; // takes a layout of Megatron-LM too
  read?: (text: string) => Read; // of a field whose values are not numbers alone
  rest?: () => number; // where the slider rests when the box is empty
};
export type Value = number | number[] | string | null;
/** Into the box; with an arrow key on the slider; with the pointer on it. */
export type Way = "typed" | "stepped" | "dragged";
type FieldActs = {
  pick: (value: Value, event: Event, way: Way) => void;
  near: (options: FieldOptions) => void;
  share: (list: number[]) => number; // one number in place of a list with one entry per stage
  layout: (layout: StageLayout, event: Event) => void;
};

export class Field {
  options: FieldOptions;
  acts: FieldActs;
  stops: number[];
  slider: HTMLInputElement;
  box: HTMLInputElement;
  problem: HTMLDivElement;
  range: HTMLElement;
  stages: HTMLDivElement;
  node: HTMLDivElement;

  #value: Value = null;
  #held = false; // the pointer is down on the slider
  #written = ""; // what the slider shows
  #typed: TypedBox;

  constructor(options: FieldOptions, acts: FieldActs) {
    const id = `field-${options.name}`;
    this.options = options;
    this.acts = acts;
    this.stops = options.stops();
    this.slider = h("input", { type: "range", min: 0, step: 1, "aria-label": options.label, id: `${id}-slider` });
    this.box = h("input", {
      type: "text",
      id,
      autocomplete: "off",
      spellcheck: "false",
      placeholder: options.empty,
      inputmode: options.list ? "text" : "decimal",
      "aria-describedby": `${id}-problem`,
    });
    this.#typed = new TypedBox(this.box);
    this.problem = h("div.problem", { id: `${id}-problem`, role: "alert", hidden: true });
    this.range = h("b");
    const one = h(
      "button.link",
      {
        title: t("One number for all stages: their mean"),
        "aria-label": t("{symbol}: one number for all stages, their mean", options),
        onclick: (event: Event) => this.#flatten(event),
      },
      t("mean"),
    );
    this.stages = h("div.cut.stages", { hidden: true }, this.range, `${t("per stage")} · `, one);
    this.node = h(
      "div",
      { class: `field${options.stacked ? " stacked" : options.caption ? " captioned" : ""}`, title: options.label },
      h("label", { for: id, text: options.caption ?? options.symbol }),
      this.slider,
      this.stages,
      this.box,
      this.problem,
    );
    this.slider.addEventListener("input", (event) =>
      acts.pick(this.stops[Number(this.slider.value)], event, this.#held ? "dragged" : "stepped"),
    );
    this.slider.addEventListener("pointerdown", () => {
      this.#held = true;
    });
    for (const kind of ["pointerup", "pointercancel", "blur"])
      this.slider.addEventListener(kind, () => {
        this.#held = false;
      });
    this.box.addEventListener("change", (event) => this.#commit(event));
    this.box.addEventListener("keydown", (event) => this.#key(event));
    for (const [node, kind] of [
      [this.slider, "pointerenter"],
      [this.slider, "focus"],
      [this.box, "focus"],
    ] as [HTMLElement, string][]) {
      node.addEventListener(kind, () => acts.near(options));
    }
  }

  #key(event: KeyboardEvent) {
    if (event.key === "Escape") this.#typed.write(textOf(this.#value, this.options));
    if (event.key === "Enter") this.#commit(event);
    if (this.box.readOnly) return;
    const way = event.key === "ArrowUp" ? 1 : event.key === "ArrowDown" ? -1 : 0;
    const from = readValue(this.box.value, this.options);
    if (!way || typeof from !== "number") return;
    event.preventDefault();
    this.#typed.take();
    const to = Math.max(0, from + this.options.step * way * (event.shiftKey ? 10 : 1));
    this.acts.pick(Number(to.toPrecision(10)), event, "typed");
  }

  #commit(event: Event) {
    const { options, box } = this;
    if (box.value.trim() === textOf(this.#value, options)) {
      this.#typed.take();
      return;
    }
    const text = box.value.trim();
    const layout = options.layout && isLayout(text) ? readLayout(text) : null;
    if (layout && "wanted" in layout) {
      const message = t("{field} must be {wanted}", { field: options.symbol, wanted: layout.wanted });
      this.complain({ field: options.name, value: text, message });
      return;
    }
    const own = text && options.read ? options.read(text) : null;
    if (own && "wanted" in own) {
      const message = t("{field} must be {wanted}", { field: options.symbol, wanted: own.wanted });
      this.complain({ field: options.name, value: text, message });
      return;
    }
    const read = own ? (own.value as Value) : readValue(box.value, options);
    if (layout) {
      this.#typed.take();
      this.acts.layout(layout, event);
    } else if (read === undefined) {
      this.complain({
        field: options.name,
        value: box.value,
        message: options.list
          ? t("{symbol} must be a number, or a list with one for each stage", options)
          : t("{symbol} must be a number", options),
      });
    } else {
      this.#typed.take();
      this.acts.pick(read, event, "typed");
    }
  }

  #flatten(event: Event) {
    if (Array.isArray(this.#value)) this.acts.pick(Number(this.acts.share(this.#value).toPrecision(5)), event, "typed");
  }

  set(value: Value) {
    const { slider, options } = this;
    const text = textOf(value, options);
    this.#value = value;
    if (!this.#held) this.stops = options.stops(); // under a hand that drags the scale stays what it is
    const last = this.stops.length - 1;
    const rest = value ?? options.rest?.();
    const at = typeof rest === "number" ? nearestStop(this.stops, rest) : 0;
    if (!this.#typed.isTyping) this.#typed.write(text);
    const written = `${last} ${at} ${text}`;
    if (written === this.#written && slider.value === String(at)) return; // each write costs a frame its share
    this.#written = written;
    if (slider.max !== String(last)) slider.max = String(last);
    if (slider.value !== String(at)) slider.value = String(at);
    slider.style.setProperty("--fill", `${last > 0 ? (100 * at) / last : 0}%`);
    slider.setAttribute("aria-valuetext", text || (options.empty ?? ""));
    const byStage = Array.isArray(value) && !options.boxOnly;
    this.node.classList.toggle("by-stage", byStage);
    this.node.classList.toggle("wide-box", options.boxOnly === true);
    show(slider, !byStage && !options.boxOnly);
    show(this.stages, byStage);
    if (Array.isArray(value)) setText(this.range, `${short(Math.min(...value))}–${short(Math.max(...value))}`);
  }

  /** What cannot be changed here, and the reason. why: the id of that text. */
  lock(why: string | null) {
    if (this.slider.disabled === (why !== null)) return;
    this.slider.disabled = this.box.readOnly = why !== null;
    this.node.classList.toggle("is-locked", why !== null);
    this.box.setAttribute("aria-describedby", `field-${this.options.name}-problem${why ? ` ${why}` : ""}`);
  }

  /** Show the error beside the field, with the nearest legal value as a button. */
  complain(
    error: { field: string; value: unknown; message: string; nearest?: unknown } | null,
    apply?: (value: any) => void,
    whose?: string,
  ) {
    const { problem, options } = this;
    if (!error && problem.hidden) return;
    show(problem, error !== null);
    this.node.toggleAttribute("data-bad", error !== null);
    this.box.setAttribute("aria-invalid", String(error !== null));
    const text = error ? sentence(tr(error)) : "";
    const message = h("span", { text: error && whose ? t("{family}: {text}", { family: whose, text }) : text });
    const legal = error?.nearest;
    const label =
      legal === null
        ? t("Leave {symbol} out", options)
        : t("Use {field} = {value}", {
            field: options.symbol,
            value: Array.isArray(legal) ? brief(packed(legal)) : textOf((legal ?? null) as Value, options),
          });
    replace(
      problem,
      message,
      legal === undefined || !apply ? "" : h("div", h("button.button", { onclick: () => apply(legal) }, label)),
    );
  }
}

/** Three digits tell stages apart. */
const short = (x: number) => formatNumber(Number(x.toPrecision(3)));

function textOf(value: Value, options: FieldOptions) {
  if (value === null) return "";
  if (options.percent && typeof value === "number") return `${Number((100 * value).toPrecision(6))} %`;
  return Array.isArray(value) ? value.join(",") : String(value);
}

/** A list short enough for a button. */
const brief = (text: string) => (text.length > 40 ? `${text.slice(0, 39)}…` : text);

/** undefined: no number. */
function readValue(text: string, options: FieldOptions): Value | undefined {
  const trimmed = text.trim();
  if (trimmed === "") return options.empty === undefined ? undefined : null;
  if (options.percent) return readShare(trimmed);
  const parts = trimmed.split(/[,;\s]+/).map(Number);
  if (parts.some((x) => !Number.isFinite(x))) return undefined;
  if (parts.length > 1) return options.list ? parts : undefined;
  return parts[0];
}

/** "43 %" and "43" as 0.43; a number up to 1 without the sign is a share already. */
function readShare(text: string) {
  const value = Number(text.replace(/\s*%$/, ""));
  if (!Number.isFinite(value)) return undefined;
  return text.endsWith("%") || value > 1 ? Number((value / 100).toPrecision(10)) : value;
}

function nearestStop(stops: number[], value: number) {
  let best = 0;
  for (let at = 1; at < stops.length; at++) if (Math.abs(stops[at] - value) < Math.abs(stops[best] - value)) best = at;
  return best;
}
