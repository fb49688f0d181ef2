// Family, p, m and v of a stand-alone file: orders are made in the page (core/families). A schedule whose order cannot
// be made there stays as the file has it.
import { CONSTRUCTED } from "../../core/families/construct.ts";
import { legalNear, refusal } from "../../core/families/legal.ts";
import { isConstructed } from "../../core/families/accepts.ts";
import { t, tr } from "../../core/i18n/language.ts";
import { IDS } from "../../core/state/schedules.ts";
import { moveTo, withField } from "../../data/spec_fields.ts";
import { h, sentence, setText, show } from "../../ui/dom.ts";
import { setNote } from "../../ui/notes.ts";
import { optionNodes, type Choice } from "../../ui/fields/choices.ts";
import { including, wholeStops } from "../../ui/fields/slider_stops.ts";
import type { Family, Spec } from "../../core/schedule/types.ts";

type Size = "p" | "m" | "v";
/** null: it cannot be moved now. */
type Slider = { row: HTMLElement; write: (value: number | null) => void };

const MOST = { p: 32, m: 256, v: 8 };

/** Whether costs or layers are listed stage by stage, so that the number of stages must stay. */
const isListed = ({ costs, layers }: Spec) =>
  layers !== null || [costs.F, costs.I, costs.W, costs.O].some((cost) => Array.isArray(cost));

/** Whether a schedule's p and v may change. */
const isFree = (spec: Spec) => isConstructed(spec) && !isListed(spec);

/**
 * Sizes that all schedules can have together, near those that are wanted: what one of them does not take is changed for
 * all that follow it.
 */
export function legalTogether(specs: Spec[], follows: (at: number, name: "p" | "m") => boolean) {
  let near = specs;
  for (let at = 0; at < specs.length; at++) {
    const legal = isConstructed(near[at]) ? legalNear(near[at]) : null;
    if (!legal || legal === near[at]) continue;
    const both = (k: number, name: "p" | "m") => (follows(k, name) && follows(at, name) ? { [name]: legal[name] } : {});
    near = near.map((each, k) => (k === at ? legal : { ...each, ...both(k, "p"), ...both(k, "m") }));
    if (near.slice(0, at).some((each) => isConstructed(each) && refusal(each))) return legalTogether(near, follows);
  }
  return near;
}

/** Returns specs: with the file's own costs. */
export function createSizeControls(
  specs: Spec[], // of the file
  families: Family[],
  onChange: () => void,
): { node: HTMLElement; specs: () => Spec[]; isChanged: () => boolean; reset: () => void } {
  const familyOf = (name: string) => families.find((each) => each.name === name) ?? null;
  let wanted = specs;
  let shown = specs;

  /** Whether a schedule takes what a slider says: it can, and the file gave it the first one's value. */
  const follows = (at: number, name: "p" | "m") =>
    specs[at][name] === specs[0][name] && (name === "p" ? isFree(wanted[at]) : isConstructed(wanted[at]));

  function want(next: Spec[]) {
    wanted = next;
    shown = legalTogether(next, follows);
    write();
    onChange();
  }

  const names = { p: t("Devices p"), m: t("Micro-batches m"), v: t("Chunks v") };
  const shared = (["p", "m"] as const).map((name) =>
    slider(names[name], name, stopsOf(name, specs[0]), (value) =>
      want(wanted.map((spec, at) => (follows(at, name) ? { ...spec, [name]: value } : spec))),
    ),
  );
  const letter = (text: string, at: number) => (specs.length > 1 ? `${IDS[at].toUpperCase()} · ${text}` : text);
  const own = specs.map((spec, at) => {
    const choice = familyChoice(spec, IDS[at], familyOf, (name) => want(withAt(wanted, at, moved(at, name))));
    const chunks = slider(letter(names.v, at), `v-${IDS[at]}`, stopsOf("v", spec), (value) =>
      want(withAt(wanted, at, withField(wanted[at], "v", value))),
    );
    return { choice, chunks };
  });

  /** A schedule in another family; in its own again it is as the file has it, or in the present sizes. */
  function moved(at: number, name: string) {
    const file = specs[at];
    if (name === file.family) return isConstructed(file) ? { ...file, p: wanted[at].p, m: wanted[at].m } : file;
    const to = familyOf(name);
    if (!to) return wanted[at];
    const { p, m } = shown.find((_, k) => k !== at && follows(k, "p")) ?? wanted[at];
    const next = moveTo(wanted[at], familyOf(wanted[at].family), to);
    // what only the server puts into an order is left out of one that is made here
    const made = { ...next, p, m, vocabulary: "plain", offload: "none" };
    return isConstructed(made) ? made : { ...made, forward_only: false };
  }

  const note = h("p.embed-note", { role: "status", hidden: true });

  function write() {
    shared.forEach((each, k) => {
      const name = k === 0 ? "p" : "m";
      const first = shown.findIndex((_, at) => follows(at, name));
      each.write(first < 0 ? null : shown[first][name]);
    });
    own.forEach(({ choice, chunks }, at) => {
      const range = CONSTRUCTED[shown[at].family]?.v;
      choice.value = shown[at].family;
      show(chunks.row, range !== undefined && range.max > range.min);
      chunks.write(isFree(shown[at]) ? shown[at].v : null);
    });
    setNote(note, explanation());
  }

  /** What was changed beside what was asked for, or why a schedule stays as it is. */
  function explanation() {
    const problem = wanted.map((spec) => (isConstructed(spec) ? refusal(spec) : null)).find(Boolean);
    if (problem) return sentence(tr(problem));
    const fixed = wanted.findIndex((spec) => !isConstructed(spec));
    if (fixed >= 0)
      return t("{title}: its order is made by the server and stays as it is in this file.", { title: titleAt(fixed) });
    const listed = wanted.findIndex(isListed);
    if (listed >= 0)
      return t("{title}: its costs or layers are listed for each stage, so p and v stay as in this file.", {
        title: titleAt(listed),
      });
    return "";
  }

  const titleAt = (at: number) => familyOf(wanted[at].family)?.title ?? wanted[at].family;

  write();
  const rows = [
    ...shared.map(({ row }) => row),
    ...own.flatMap(({ choice, chunks }, at) => [labelled(letter(t("Schedule"), at), choice), chunks.row]),
  ];
  return {
    node: h("div", h("div.embed-sliders", ...rows), note),
    specs: () => shown,
    isChanged: () => shown.some((spec, at) => ["family", "p", "m", "v"].some((name) => differs(spec, specs[at], name))),
    reset: () => want(specs),
  };
}

const differs = (a: Spec, b: Spec, name: string) => Reflect.get(a, name) !== Reflect.get(b, name);

const withAt = (specs: Spec[], at: number, spec: Spec) => specs.map((each, k) => (k === at ? spec : each));

const stopsOf = (name: Size, spec: Spec) => including(wholeStops(1, MOST[name]), spec[name]);

/** The families that the page makes, and the file's own where it is another. */
function familyChoice(
  spec: Spec, // of the file
  id: string,
  familyOf: (name: string) => Family | null,
  choose: (name: string) => void,
) {
  const title = familyOf(spec.family)?.title ?? spec.family;
  const fixed: Choice[] = isConstructed(spec) ? [] : [[spec.family, t("{title}, as in this file", { title })]];
  const names = Object.keys(CONSTRUCTED).filter((name) => !(fixed.length && name === spec.family));
  const select = h(
    "select",
    { id: `family-${id}`, onchange: () => choose(select.value), disabled: isListed(spec) },
    ...optionNodes([...fixed, ...names.map((name): Choice => [name, CONSTRUCTED[name].title])]),
  );
  select.value = spec.family;
  return select;
}

const labelled = (text: string, choice: HTMLSelectElement) =>
  h("label.embed-cost", h("span.cut.embed-label", { text }), h("span"), choice);

/** A slider with its value right behind its label. */
function slider(label: string, id: string, stops: number[], choose: (value: number) => void): Slider {
  const input = h("input", { type: "range", min: 0, max: stops.length - 1, step: 1, id: `size-${id}` });
  const out = h("b.embed-value");
  input.setAttribute("aria-label", label);
  input.addEventListener("input", () => choose(stops[Number(input.value)]));
  const head = h("span.cut.embed-label", { text: label });
  const row = h("label.embed-cost", head, out, input);
  return {
    row,
    write(value) {
      input.disabled = value === null;
      if (value === null) return;
      // a legal value between two stops: the thumb is at the stop above it
      const stop = stops.findIndex((each) => each >= value);
      input.value = String(stop < 0 ? stops.length - 1 : stop);
      input.setAttribute("aria-valuetext", String(value));
      setText(out, String(value));
    },
  };
}
