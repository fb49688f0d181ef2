// The options of the next run besides its schedule: pace, unit, precision, device, training steps, seed. An option that
// is not available is disabled with its reason; the server validates the values.
import { createDeviceList } from "./device_list.ts";
import { h, replace, setText, show } from "../../ui/dom.ts";
import { optionNodes } from "../../ui/fields/choices.ts";
import { choiceFor, coresOf, fewerRanks, gpusOf, lacking } from "../../core/measured/devices.ts";
import { whereRuns, type Devices } from "../../core/measured/devices.ts";
import { formatNumber } from "../../core/i18n/numbers.ts";
import { defaultUnit } from "../../core/measured/pace.ts";
import { timeText } from "../../core/measured/result.ts";
import { t } from "../../core/i18n/language.ts";
import type { ChosenOptions } from "../../data/runs/client.ts";

/** The devices, and the ranks of the schedule. */
type Situation = {
  devices: Devices | null;
  p: number;
  asynchronous: boolean;
  forwardOnly: boolean;
  plan: PlanWork | null;
};
/** Of its plan, in units: the step, the mean of the ops that take time; the most blocks of a stage. */
type PlanWork = { makespan: number; meanOp: number; blocks: number };

const DEFAULTS = { mode: "auto", unit_ms: null, dtype: "float32", device: "auto", steps: 1, seed: 0 };
/** The further options of a run on a cluster. */
export const CLUSTER_DEFAULTS = { spread: "pack", arrange: "given", hops: "given" };

const modes = () => ({
  auto: t("automatic"),
  paced: t("paced: each op lasts as planned"),
  free: t("free: as fast as possible"),
});
const devices = () => ({ auto: t("automatic"), cpu: "CPU", cuda: "GPU" });

/** takeRanks: gives the schedule that many devices. */
export function createRunOptions(changed: () => void, takeRanks: (p: number) => void) {
  const where = h("p#run-where.muted.run-where");
  const length = h("p#run-length.muted.run-where");
  const refusal = h("p#run-refusal.note.bad", { role: "status", hidden: true });
  const have = createDeviceList();
  const mode = list("mode", t("Pace"), modes(), changed);
  const unit = box(
    "unit",
    t("Unit"),
    "ms",
    t("auto"),
    t("How long one unit of the costs lasts in a paced run"),
    changed,
  );
  const dtype = list("dtype", t("Precision"), { float32: "float32", bfloat16: "bfloat16" }, changed);
  const device = list("device", t("Device"), devices(), changed);
  const steps = box(
    "steps",
    t("Steps"),
    "",
    "1",
    t("Training steps with an optimizer; the last one is measured and drawn"),
    changed,
  );
  const seed = box("seed", t("Seed"), "", "0", t("Seed of the model and its data"), changed);
  const spread = list(
    "spread",
    t("Placement"),
    { pack: t("pack: few hosts"), spread: t("spread: many hosts") },
    changed,
    t("Ranks on as few hosts as possible, or on as many"),
  );
  const arrange = list(
    "arrange",
    t("Rank order"),
    { given: t("in the order of hosts"), latency: t("by latency") },
    changed,
    t("Ranks in the order of the hosts, or with neighbours in the pipeline where messages are fastest"),
  );
  const hops = list(
    "hops",
    t("Hop time"),
    { given: t("as in the costs"), measured: t("as measured") },
    changed,
    t("Hops of the plan as in the costs, or as the longest one measured between neighbours before the run"),
  );
  const placed = [spread, arrange, hops];
  for (const { label } of placed) label.hidden = true; // until there is a cluster
  const node = h(
    "fieldset.row.run-options",
    { "aria-describedby": [where.id, length.id].join(" ") },
    h("legend.visually-hidden", { text: t("Options of the next run") }),
    ...[mode, unit, dtype, device, steps, seed, ...placed].map((each) => each.label),
    refusal,
    where,
    length,
    have.node,
  );

  /** Returns a value that is not a number stays a text, which the server refuses with the reason. */
  const chosen = (): ChosenOptions => ({
    mode: mode.control.value,
    unit_ms: unit.control.disabled ? null : typed(unit.control.value, null),
    dtype: dtype.control.value,
    device: device.control.value,
    steps: steps.control.disabled ? 1 : typed(steps.control.value, 1),
    seed: typed(seed.control.value, 0),
    ...(spread.label.hidden
      ? {}
      : { spread: spread.control.value, arrange: arrange.control.value, hops: hops.control.value }),
  });

  return {
    node,
    chosen,
    /** asked: the options of another run. */
    choose(asked: Partial<ChosenOptions> | null | undefined) {
      const all = { ...CLUSTER_DEFAULTS, ...chosen(), ...asked };
      mode.control.value = all.mode;
      spread.control.value = all.spread;
      arrange.control.value = all.arrange;
      hops.control.value = all.hops;
      dtype.control.value = all.dtype;
      device.control.value = all.device;
      unit.control.value = all.unit_ms === null ? "" : String(all.unit_ms);
      steps.control.value = all.steps === DEFAULTS.steps ? "" : String(all.steps);
      seed.control.value = all.seed === DEFAULTS.seed ? "" : String(all.seed);
    },
    /** Show the devices, and which of them a run would use. */
    showDevices(here: Situation) {
      const { devices: known, p } = here;
      forbid(unit, mode.control.value === "free" ? t("A free run has no pace") : "");
      const missing = known ? missingGpu(known) : "";
      const option = device.control.options[2] as HTMLOptionElement;
      option.disabled = missing !== "";
      setText(option, missing || devices().cuda);
      if (missing && device.control.value === "cuda") device.control.value = "auto";
      forbid(steps, oneStep(here, device.control.value));
      for (const { label } of placed) label.hidden = known?.engine !== "ray";
      const free =
        known && paceOf(known, p, mode.control.value) === "free"
          ? t("A free run has no pace, so a hop has no length in its costs")
          : "";
      forbid(hops, free);
      if (free) hops.control.value = CLUSTER_DEFAULTS.hops;
      have.show(known);
      const most = fewerRanks(known, p);
      const uninstalled = lacking(known);
      const refusing = most !== null || uninstalled !== "";
      show(refusal, refusing);
      if (uninstalled) replace(refusal, uninstalled);
      else if (most !== null) replace(refusal, ...refused(p, most, takeRanks));
      setText(where, known && !refusing ? whereRuns(known, p, mode.control.value, device.control.value) : "");
      setText(length, refusing ? "" : lengthText(here, chosen()));
    },
  };
}

/** Why a run of `p` ranks cannot be, and the nearest one that can. */
const refused = (p: number, most: number, take: (p: number) => void) => [
  tooManyText(p, most),
  t(" "),
  h("button#run-fewer.button.soft", { onclick: () => take(most) }, t("Use {value}", { value: `p = ${most}` })),
];

export const tooManyText = (p: number, most: number) =>
  t("A run has at most {most} ranks here, and this schedule has {p} devices.", { most, p });

/** The unit of the run and how long its steps take; "" where that is not known before. */
function lengthText({ devices: known, p, plan }: Situation, { mode, unit_ms: given, steps }: ChosenOptions) {
  const paced =
    mode === "paced" || (mode === "auto" && (given !== null || (known && paceOf(known, p, mode) === "paced")));
  if (!paced || !plan || !(plan.meanOp > 0) || (given !== null && !(given > 0)) || !(steps >= 1)) return "";
  const cores = known ? coresOf(known) : 1;
  const unit = given ?? defaultUnit({ ...plan, ranks: p, cores, steps });
  const values = { unit: formatNumber(unit), time: timeText(plan.makespan * unit), steps };
  const all = timeText(plan.makespan * unit * steps);
  return steps > 1
    ? t("One unit is {unit} ms, so a step takes {time}, and {steps} steps {all}.", { ...values, all })
    : t("One unit is {unit} ms, so the step takes {time}.", values);
}

/** The mode that a run would have. mode: that is chosen. */
const paceOf = (known: Devices, p: number, mode: string) => (mode === "auto" ? choiceFor(known, p)?.mode : mode);

/** Why no GPU can be chosen; "" where one can, or where the devices are unknown. */
const missingGpu = (known: Devices) => (known.devices.length && !gpusOf(known).length ? t("GPU: none here") : "");

/** Why a run has one training step; "" where it can have more. device: that is chosen. */
function oneStep({ devices: known, p, asynchronous, forwardOnly }: Situation, device: string) {
  if (forwardOnly) return t("A forward-only run trains nothing, so it has one step");
  if (asynchronous) return t("In this schedule every micro-batch is a training step");
  const gpus = known && device !== "cpu" ? gpusOf(known).length : 0;
  return gpus >= p ? t("Where every rank has a GPU of its own, a run is one step") : "";
}

const typed = (text: string, empty: number | null): any =>
  text.trim() === "" ? empty : Number.isFinite(Number(text)) ? Number(text) : text.trim();

function list(name: string, label: string, choices: Record<string, string>, changed: () => void, title = "") {
  const control = h(
    "select",
    { id: `run-${name}`, onchange: changed, title: title || null },
    ...optionNodes(Object.entries(choices)),
  );
  return { control, title, label: h("label", h("span", { text: label }), control) };
}

function box(name: string, label: string, unit: string, empty: string, title: string, changed: () => void) {
  const control = h("input", {
    type: "text",
    id: `run-${name}`,
    inputmode: "decimal",
    autocomplete: "off",
    spellcheck: "false",
    placeholder: empty,
    title,
    oninput: changed,
  });
  return {
    control,
    title,
    label: h("label", h("span", { text: label }), h("span.run-box", control, unit)),
  };
}

/** Disable a field, with the reason as its title. why: "" enables it. */
function forbid({ control, title }: { control: HTMLInputElement | HTMLSelectElement; title: string }, why: string) {
  control.disabled = why !== "";
  control.title = why || title;
}
