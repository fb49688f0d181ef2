// What training plans are limited to, and the devices that are laid out, as one key of a link and as a command:
// plan=gpus:64;batch:1024;framework:megatron;families:1f1b,interleaved;recompute:0. The keys are those of /api/plans.
import { FRAMEWORKS } from "../schedule/spec_tables.ts";
import { presetEntries, type Preset } from "./link_preset.ts";

/** Each key with the text that it may have, in the order of a link. */
const FORMS: Record<string, (text: string) => boolean> = {
  gpus: (text) => /^[1-9]\d{0,6}$/.test(text),
  batch: (text) => /^[1-9]\d{0,6}$/.test(text),
  framework: (text) => FRAMEWORKS.some(([name]) => name === text),
  families: (text) => /^[a-z0-9][a-z0-9-]{0,39}(,[a-z0-9][a-z0-9-]{0,39}){0,31}$/.test(text),
  recompute: (text) => text === "0",
  offload: (text) => text === "0",
};

/** Keys and texts, those without a limit left out. */
export type PlanLimits = Map<string, string>;

/** The text of a link; null where nothing is limited. A key whose text no link can have is left out. */
export function showPlanLimits(limits: PlanLimits): string | null {
  const parts = Object.entries(FORMS).flatMap(([key, isLegal]) => {
    const text = limits.get(key);
    return text !== undefined && isLegal(text) ? [`${key}:${text}`] : [];
  });
  return parts.length ? parts.join(";") : null;
}

/** null for a text that is none of a link's. */
export function readPlanLimits(text: string): PlanLimits | null {
  const limits = new Map(text.split(";").map((part) => part.split(/:(.*)/s).slice(0, 2) as [string, string]));
  return showPlanLimits(limits)?.length === text.length ? limits : null;
}

/** Options of `app.py plan` that have another name than the field of a model, a machine or a limit. */
const OPTIONS: Record<string, string> = { sequence: "seq", micro_batch: "micro-batch", context: "cp", expert: "ep" };
const FLAGS: Record<string, [on: string, off: string]> = {
  sequence_parallel: ["sp", "no-sp"],
  fp8: ["fp8", "bf16"],
  heads: ["heads", "no-heads"],
};
const SAME = ["model", "machine", "tp", "data", "zero", "efficiency"];

/** The command that finds the plans of a request, from its keys besides those of the preset. */
export function planCommand(program: string, asked: [string, string][], preset: Preset): string {
  const limits = asked.map(([key, text]) => {
    if (key === "recompute" || key === "offload") return `--no-${key}`;
    return `${key.length === 1 ? "-" : "--"}${key} ${text}`;
  });
  const fields = presetEntries(preset, false).map(([field, text]) => {
    if (field in FLAGS) return `--${FLAGS[field][text === "1" ? 0 : 1]}`;
    if (SAME.includes(field) || field in OPTIONS) return `--${OPTIONS[field] ?? field} ${text}`;
    return `--set ${field}=${json(field === "layers" && preset.layers ? preset.layers : preset.own[field])}`;
  });
  return [program, "plan", ...fields, ...limits].join(" ");
}

/** JSON, in quotes where a shell would read its signs. */
function json(value: unknown) {
  const text = JSON.stringify(value);
  return /^[\w.+-]*$/.test(text) ? text : `'${text}'`;
}
