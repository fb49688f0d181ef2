// The left column: which plan, family, sizes, costs, options; and what is wrong with them, beside the field.
import { byId, h, replace, setText, show } from "./dom.js";
import { createField } from "./field.js";
import { inputHappened } from "./latency.js";
import { createPicker } from "./picker.js";
import { COST_STOPS, SHARE_STOPS, including, wholeStops } from "./stops.js";

/** @import {Desk} from "./desk.js" */
/** @import {Family} from "./picker.js" */
/** @import {Field, FieldOptions, Value} from "./field.js" */
/** @import {Plan} from "./plans.js" */
/** @import {Spec} from "./pure/types.js" */
/** @import {Store} from "./store.js" */

const COSTS = ["F", "I", "W", "comm", "FB"];
const SHARED = new Set(["p", "m", "F", "I", "W", "comm", "w_share"]);
const SHAPES = ["p", "m", "v", "group"];

/** @param {Store} store @param {Desk} desk @param {Family[]} families */
export function createControls(store, desk, families) {
  const home = byId("controls");
  /** @type {"a" | "b"} */
  let which = "a";
  const spec = () => (which === "b" ? store.get().second : null) ?? store.get().spec;
  const family = () => desk.family(spec().family);
  const picker = createPicker(families, pickFamily, (each) => desk.consider(moveTo(each)));

  /** The same sizes in another family. @param {Family} to @returns {Spec} */
  function moveTo(to) {
    const now = spec();
    const from = family();
    const keeps = from && from.v.max > 1 && now.v >= to.v.min && now.v <= to.v.max;
    return { ...now, family: to.name, v: keeps ? now.v : to.v.default, group: to.fields.includes("group") ? now.group : null,
      lifo: to.fields.includes("lifo") && now.lifo, costs: { ...now.costs, FB: to.fields.includes("FB") ? now.costs.FB : null } };
  }

  /** @param {Family} to */
  function pickFamily(to) {
    put(moveTo(to), "push");
  }

  /** @param {Spec} next @param {"push" | "replace"} how @param {string} [field] */
  function put(next, how, field) {
    const { second, spec: first } = store.get();
    if (which === "b") {
      store.set({ second: next, spec: tied() && field ? share(first, next, field) : first }, how);
    } else {
      store.set({ spec: next, second: second && tied() && field ? share(second, next, field) : second }, how);
    }
  }

  /** @param {string} name @param {Value | boolean} value */
  function changed(name, value) {
    const now = spec();
    return COSTS.includes(name) ? { ...now, costs: { ...now.costs, [name]: value } } : { ...now, [name]: value };
  }

  /** A slider steps over what is illegal; a typed value stays and is explained. */
  /** @param {string} name @param {Value} value @param {Event} event @param {boolean} dragged */
  function pick(name, value, event, dragged) {
    inputHappened(event);
    let next = /** @type {Spec} */ (changed(name, value));
    const error = dragged ? desk.answerTo(next)?.error : null;
    if (error && error.field === name && typeof error.nearest === "number") next = changed(name, error.nearest);
    put(next, "replace", name);
    if (SHAPES.includes(name)) near(options(name));
  }

  /** @param {FieldOptions} of */
  function near(of) {
    if (SHAPES.includes(of.name)) desk.prefetch(desk.plans()[which === "b" ? 1 : 0], of.name, of.stops());
  }

  /** @type {Map<string, Field>} */
  const fields = new Map();
  const list = fieldList(spec, family);
  /** @param {string} name */
  const options = (name) => /** @type {FieldOptions} */ (list.find((each) => each.name === name));
  for (const each of list) {
    fields.set(each.name, createField(each, { pick: (value, event, dragged) => pick(each.name, value, event, dragged), near }));
  }
  const tie = h("input", { type: "checkbox", checked: true, id: "tie" });
  const tied = () => tie.checked;
  const tieRow = h("label", { class: "check", hidden: true }, tie, "Same devices, micro-batches and costs for both");
  const lifo = h("input", { type: "checkbox", id: "lifo", onchange: () => put(changed("lifo", lifo.checked), "replace", "lifo") });
  const lifoRow = h("label", { class: "check" }, lifo, "Backwards from the last micro-batch to the first");
  const switcher = h("div", { class: "which", role: "group", "aria-label": "Which schedule to change", hidden: true });
  const other = h("div", { class: "problem", role: "alert", hidden: true });
  const reset = h("button", { type: "button", class: "link reset", id: "reset-costs", onclick: () => put({ ...spec(), costs: { ...store.defaults.costs }, w_share: store.defaults.w_share }, "replace", "F") }, "Reset the costs");
  /** @param {...string} names */
  const nodes = (...names) => names.map((name) => /** @type {Field} */ (fields.get(name)).node);
  home.append(switcher, picker.button, other, h("h2", { text: "Sizes" }), ...nodes("p", "m", "v", "group"), lifoRow, tieRow,
    h("h2", { text: "Costs, per device and micro-batch" }), ...nodes("F", "I", "W", "FB", "comm", "w_share"), reset);

  /** Everything as the state says. */
  function sync() {
    const { second } = store.get();
    if (!second) which = "a";
    const now = spec();
    picker.set(now.family);
    const applies = applicable(family());
    for (const [name, field] of fields) {
      show(field.node, applies.has(name));
      field.set(/** @type {Value} */ (COSTS.includes(name) ? now.costs[/** @type {"F"} */ (name)] : now[/** @type {"p"} */ (name)]));
    }
    show(lifoRow, applies.has("lifo"));
    lifo.checked = now.lifo;
    show(tieRow, second !== null);
    show(switcher, second !== null);
    show(reset, JSON.stringify([now.costs, now.w_share]) !== JSON.stringify([store.defaults.costs, store.defaults.w_share]));
    if (second) replace(switcher, ...["a", "b"].map((id) => h("button", { type: "button", "aria-pressed": String(id === which),
      onclick: () => { which = id === "b" ? "b" : "a"; sync(); complain(); } },
    `${id.toUpperCase()} ${desk.family(id === "a" ? store.get().spec.family : second.family)?.title ?? ""}`)));
  }

  /** What the server refused, beside the field it named. */
  function complain() {
    for (const field of fields.values()) field.complain(null);
    show(other, false);
    desk.plans().forEach((plan, at) => {
      if (plan.error) complainOf(plan, at === (which === "b" ? 1 : 0));
    });
  }

  /** @param {Plan} plan @param {boolean} mine */
  function complainOf(plan, mine) {
    const error = plan.error;
    if (!error) return;
    const whose = mine ? undefined : desk.family(plan.asked.family)?.title;
    const field = fields.get(error.field);
    /** @param {any} value */
    const apply = (value) => {
      which = plan.id;
      put(/** @type {Spec} */ (changed(error.field, value)), error.field === "family" ? "push" : "replace", error.field);
    };
    if (field && !field.node.hidden) { field.complain(error, apply, whose); return; }
    show(other, true);
    replace(other, h("span", { text: `${whose ? `${whose}: ` : ""}${error.message}` }), error.nearest === undefined ? "" :
      h("button", { type: "button", class: "button", onclick: () => apply(error.nearest) }, `Use ${error.field} = ${error.nearest}`));
  }

  /** What a link got wrong. @param {{field: string, message: string}[]} problems */
  function complainOfLink(problems) {
    if (!problems.length) return;
    show(other, true);
    setText(other, `The link: ${problems.map((problem) => problem.message).join("; ")}.`);
  }

  return { sync, complain, complainOfLink, edit: (/** @type {"a" | "b"} */ id) => { which = id; sync(); } };
}

/** @param {Spec} to @param {Spec} from @param {string} field @returns {Spec} */
function share(to, from, field) {
  if (!SHARED.has(field)) return to;
  if (!COSTS.includes(field)) return { ...to, [field]: from[/** @type {"p"} */ (field)] };
  return { ...to, costs: { ...to.costs, [field]: from.costs[/** @type {"F"} */ (field)] } };
}

/** The fields that mean something to a family. @param {Family | null} family */
function applicable(family) {
  const names = new Set(["p", "m", "F", "I", "W", "comm"]);
  if (!family) return names;
  if (family.v.max > family.v.min) names.add("v");
  if (family.backward !== "full") names.add("w_share");
  for (const name of family.fields) names.add(name);
  return names;
}

/** @param {() => Spec} spec @param {() => Family | null} family @returns {FieldOptions[]} */
function fieldList(spec, family) {
  /** @param {"F" | "I" | "W" | "comm" | "FB"} name */
  const costStops = (name) => () => including(COST_STOPS, spec().costs[name]);
  return [
    { name: "p", symbol: "p", label: "Devices (pipeline ranks)", stops: () => including(wholeStops(1, 64), spec().p), step: 1 },
    { name: "m", symbol: "m", label: "Micro-batches in a step", stops: () => including(wholeStops(1, 512), spec().m), step: 1 },
    { name: "v", symbol: "v", label: "Model chunks on each device", stops: () => including(wholeStops(family()?.v.min ?? 1, Math.min(16, family()?.v.max ?? 16)), spec().v), step: 1 },
    { name: "group", symbol: "g", label: "Micro-batches taken together through the chunks; empty: torch's rule", stops: () => including(wholeStops(1, Math.max(1, spec().m)), spec().group), step: 1, empty: "auto" },
    { name: "F", symbol: "f", label: "Forward", stops: costStops("F"), step: 0.1, list: true },
    { name: "I", symbol: "i", label: "Input gradient", stops: costStops("I"), step: 0.1, list: true },
    { name: "W", symbol: "w", label: "Weight gradient", stops: costStops("W"), step: 0.1, list: true },
    { name: "FB", symbol: "f&b", label: "Overlapped forward and backward; empty: f + i + w", stops: costStops("FB"), step: 0.1, empty: "f+b" },
    { name: "comm", symbol: "c", label: "Communication, one hop between devices", stops: costStops("comm"), step: 0.1 },
    { name: "w_share", symbol: "W mem", label: "Part of an activation that the weight gradient still needs", stops: () => including(SHARE_STOPS, spec().w_share), step: 0.05 },
  ];
}
