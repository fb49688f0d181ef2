// Requests models, machines and their costs; responses are cached as long as the page is open. Knows no DOM.
import { getAnswer } from "../api.ts";
import { t } from "../../core/i18n/language.ts";
import { expertFields, machineFields, modelFields } from "../../core/state/own_values.ts";
import { presetEntries, type Preset } from "../../core/state/link_preset.ts";
import type { Costs, Spec, Text } from "../../core/schedule/types.ts";

/** Of the arithmetic. */
export type Step = { name: Text; formula: string; numbers: string; value: number; unit: Text; symbol: string | null };
/** A model or a machine. */
export type Entry = { name: string; title: string; [more: string]: any };
export type Shelf = {
  models: Entry[];
  machines: Entry[];
  defaults: Record<string, any>;
  bounds: Record<string, [number, number]>; // of each field
};
export type Priced = {
  model: string;
  machine: string;
  costs: Costs;
  w_share: number;
  unit: string;
  tail: number; // milliseconds of a step behind its last backward
  tails: { stages: number[]; table: number[] }[]; // of each stage; one copy of it in a pipeline, or two
  bytes: Record<string, any>;
  arithmetic: Step[];
  fits: boolean;
  vocabulary_ratio: number;
  options: {
    O: number;
    k: number;
    weights: number;
    R: Record<string, number>;
    wire: number;
    shards: Record<string, { S: number; T: number }>;
  };
  [more: string]: any;
};

const kept = new Map<string, any>();
const underway = new Map<string, Promise<any>>();

/** An answer that is here already. */
export const known = (path: string) => kept.get(path);

export function ask(path: string): Promise<any> {
  if (kept.has(path)) return Promise.resolve(kept.get(path));
  let promise = underway.get(path);
  if (!promise) {
    promise = getAnswer(path)
      .then((answer) => {
        kept.set(path, answer);
        return answer;
      })
      .finally(() => underway.delete(path));
    underway.set(path, promise);
  }
  return promise;
}

export const MODELS = "/api/models";

export const shelf = (): Shelf | undefined => known(MODELS);

/** What a preset takes for a field where nothing is chosen. */
export function plainOf(preset: Preset, field: string) {
  const { models = [], machines = [], defaults = null } = shelf() ?? {};
  const model = models.find((each) => each.name === preset.model);
  const machine = machines.find((each) => each.name === (preset.machine ?? defaults?.machine));
  return [model, machine, defaults].find((each) => each && field in each)?.[field];
}

/** Does it differ from the model, or the machine, that it names? */
export const isOwn = (preset: Preset, which: "model" | "machine") =>
  FIELDS_OF[which].some((field) => field in preset.own && preset.own[field] !== plainOf(preset, field)) ||
  preset[which] === "custom";

/** Of a model, true or false. */
export const MODEL_TRUTHS = ["gated", "dropout", "post_norms", "qk_norms", "flash", "causal"];
export const FIELDS_OF = {
  model: [...[...modelFields(), ...expertFields()].map(({ name }) => name), ...MODEL_TRUTHS],
  machine: machineFields().map(({ name }) => name),
};

/** The preset without the layers that a balance moved; the model keeps their number. */
export function evenly(preset: Preset): Preset {
  if (!preset.layers) return preset;
  const layers = preset.layers.reduce((sum, share) => sum + share, 0);
  const same = layers === plainOf(preset, "layers");
  return { ...preset, layers: null, own: same ? preset.own : { ...preset.own, layers } };
}

/** The preset with another model or machine, which ends numbers of one's own of that part. */
export function withNamed(preset: Preset, part: "model" | "machine", name: string): Preset {
  const even = evenly(preset);
  const own = Object.fromEntries(Object.entries(even.own).filter(([field]) => !FIELDS_OF[part].includes(field)));
  const standard = part === "machine" && name === shelf()?.defaults.machine;
  return { ...even, [part]: standard ? null : name, own };
}

/** The preset with layers moved between the stages; further: the modules for further tokens, where they change too. */
export function withLayers(preset: Preset, layers: number[], further: Record<string, number | null> = {}): Preset {
  const own = { ...preset.own };
  delete own.layers; // their sum says it
  for (const [name, value] of Object.entries(further)) {
    if (value === null) delete own[name];
    else own[name] = value;
  }
  if (layers.slice(Number(own.mtp_stage ?? Infinity) + 1).some((count) => count > 0)) delete own.mtp_stage;
  return { ...preset, layers, own };
}

/** "Llama 3 70B on H100". */
export function titlesOf(preset: Preset) {
  const all = shelf();
  const machine = preset.machine ?? all?.defaults.machine ?? "";
  const title = (list: Entry[] | undefined, name: string) => list?.find((entry) => entry.name === name)?.title ?? name;
  const short = title(all?.machines, machine).split(" ")[0]; // "H100 80GB SXM"
  const model = isOwn(preset, "model") ? t("Own model") : title(all?.models, preset.model);
  const on = isOwn(preset, "machine") ? t("own machine") : short;
  return on ? t("{model} on {machine}", { model, machine: on }) : model;
}

/**
 * The preset as it applies to a spec: layers that a balance moved belong to one number of stages, and an output layer
 * that is spread over the devices, or for which layers move, is not counted to the last stage.
 */
export function presetFor(preset: Preset, { p, v, vocabulary, layers }: Spec): Preset {
  const cut =
    preset.layers && (preset.layers.length !== p * v || layers || vocabulary === "redistribute")
      ? evenly(preset)
      : preset;
  return vocabulary === "plain" ? cut : { ...cut, heads: false };
}

function query(preset: Preset, { p, v, frozen }: Spec, more: Record<string, string | number>) {
  return new URLSearchParams([
    ...presetEntries(preset, false),
    ["p", String(p)],
    ["v", String(v)],
    ...(frozen ? [["frozen", frozen.length > 1 ? frozen.join(",") : `1*${frozen[0]}`]] : []),
    ...Object.entries(more).map(([key, value]) => [key, String(value)]),
  ])
    .toString()
    .replaceAll("%2C", ",");
}

export const costsPath = (preset: Preset, spec: Spec) => `/api/costs?${query(presetFor(preset, spec), spec, {})}`;

/** The same with the micro-batches whose activations each rank of a schedule holds at its peak. */
export function detailPath(preset: Preset, spec: Spec, held: number[]) {
  const each = held.map((number) => Number(number.toPrecision(6))).join(",");
  return `/api/costs?${query(presetFor(preset, spec), spec, { in_flight: each })}`;
}

export const balancePath = (preset: Preset, spec: Spec) =>
  `/api/balance?${query(evenly(preset), spec, {
    family: spec.family,
    m: spec.m,
    ...(spec.group === null ? {} : { group: spec.group }),
  })}`;
