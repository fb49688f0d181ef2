// The diagnosis tab: why a measured step takes as long as it does, what each repair would save, and where.
import { besideTable, partsTable, short, stackedBars, workerGrid } from "./chart.ts";
import { findingsList } from "./findings.ts";
import { layersForm } from "./layers.ts";
import { createWaits } from "./waits.ts";
import { getAnswer, getBytes, whyFailed } from "../../data/api.ts";
import { h, keepFocus, replace, sentence, setText, show as setShown } from "../../ui/dom.ts";
import { onRest } from "../../ui/rest.ts";
import { t, tr } from "../../core/i18n/language.ts";
import { formatPercent } from "../../core/i18n/numbers.ts";
import { LETTERS, KIND_PAIR, chunkOf, globalMicro, kindOf, micros } from "../../core/schedule/ops.ts";
import { putAt } from "../../core/state/schedules.ts";
import type { Diagnoses, Diagnosis } from "../../data/runs/diagnosis.ts";
import { specQuery, type State } from "../../core/state/link.ts";
import type { Spec } from "../../core/schedule/types.ts";
import type { Lane } from "../../data/lanes.ts";
import type { Store } from "../../data/store.ts";

type Parts = { store: Store; diagnoses: Diagnoses; openImport: () => void; lanes: () => Lane[] };

type Chosen = { step?: number; replica?: number };

const MOST_OPS = 50_000; // of the screen that are sent
const EXAMPLE = [0, 1, 2, 3].map((rank) => `rank${rank}.json`);
const HEADINGS = "rank,stage,kind,micro,start,end";

export function createDiagnosis({ store, diagnoses, openImport, lanes }: Parts) {
  const node = h("div.diagnosis");
  const problem = h("p.problem", { role: "alert", hidden: true });

  function draw() {
    nameScreen();
    const { current } = diagnoses;
    if (!current) {
      const example = h("button.button.soft", { onclick: takeExample }, t("An example"));
      const ways = [openButton(t("Open a trace …"), "primary"), example, screenButton];
      replace(node, ...empty(), h("div.row", ...ways), problem);
      return;
    }
    const { found, names } = current;
    const show = (op: string) => put(found, { sel: op });
    const waits = createWaits(found, node, show);
    replace(
      node,
      h(
        "header",
        ...found.verdict.map((text, at) => h(at ? "p" : "h2", { text: tr(text) })),
        h("p.muted", { text: factsOf(found, names) }),
        choices(found, diagnoses.chosen, again),
      ),
      h("div.diagnosis-columns", findingsList(found, { show, pick: waits.pick }), stackedBars(found, waits.pick)),
      waits.figure,
      workerGrid(found, (replica) => again({ replica })) ?? "",
      found.idle.length > 1
        ? layersForm(
            found,
            (layers) => again({ layers }),
            (spec) => put({ spec }),
          )
        : "",
      partsTable(found),
      besideTable(found) ?? "",
      ...found.notes.map((note) => h("p.footnote.hint", { text: sentence(tr(note)) })),
      h(
        "div.row",
        h("button.button.primary", { onclick: () => put(found) }, t("Put this step on the timeline")),
        ...nextButtons(found),
        openButton(t("Open another trace …"), "soft"),
        screenButton,
      ),
      problem,
    );
  }

  const openButton = (text: string, how: string) => h(`button.button.${how}`, { onclick: openImport }, text);

  /** The step on the screen: the first run that is over, else the first schedule; it may come after the tab. */
  const onScreen = () => [...lanes().filter(({ kind }) => kind === "run"), ...lanes()].find(tableOf);
  const screenButton = h("button.button.soft", { onclick: () => take(onScreen()) });

  function nameScreen() {
    const lane = onScreen();
    setShown(screenButton, lane !== undefined);
    if (lane?.kind === "run") setText(screenButton, t("Diagnose the run on the screen"));
    else setText(screenButton, t("Diagnose the schedule on the screen"));
  }

  async function take(lane: Lane | undefined) {
    if (!lane) return;
    setShown(problem, false);
    try {
      await diagnoses.ask({ files: [{ name: t("the screen"), text: tableOf(lane) ?? "" }] });
    } catch (failure) {
      tell(failure);
    }
  }

  /** Diagnose the step that ships: four ranks of torch's runtime. */
  async function takeExample() {
    setShown(problem, false);
    try {
      const files = await Promise.all(EXAMPLE.map((name) => getBytes(`/static/examples/slow-step/${name}`)));
      await diagnoses.ask({ files: EXAMPLE.map((name, at) => ({ name, text: new TextDecoder().decode(files[at]) })) });
    } catch (failure) {
      tell(failure);
    }
  }

  /** Ask again of the same files, with layers to move, or one step or replica. */
  async function again(change: Parameters<Diagnoses["again"]>[0]) {
    setShown(problem, false);
    try {
      await diagnoses.again(change);
    } catch (failure) {
      tell(failure);
    }
  }

  /** Show the order at the measured costs, in ms. more: what else changes of the view, and of the spec. */
  function put({ spec }: { spec: Spec }, view: Partial<State["view"]> = {}, more: Partial<Spec> = {}) {
    const state = store.get();
    const placed = putAt(state, 0, { ...spec, ...more });
    store.set({ ...state, ...placed, preset: null, origin: undefined, view: { ...state.view, ...view } }, "push");
  }

  /** What can be tried at the measured costs: every family, a searched order, another order of entry. */
  function nextButtons(found: Diagnosis) {
    const { spec, recognised } = found;
    const searched = { [spec.p]: "zb-auto", [2 * spec.p]: "v-auto" }[spec.p * spec.v];
    const next: [string, () => void][] = [
      [t("Compare schedules at these costs"), () => put(found, { tab: "compare" })],
      [t("Plan this training"), () => put(found, { tab: "plan" })],
    ];
    if (searched && recognised.family)
      next.push([t("Search an order at these costs"), () => put(found, {}, { family: searched, group: null })]);
    if (spec.sizes !== null) next.push([t("Find the best order of entry"), () => putEntry(found)]);
    return next.map(([text, onclick]) => h("button.button.soft", { onclick }, text));
  }

  /** Show the step with the order of entry that the server finds. */
  async function putEntry(found: Diagnosis) {
    setShown(problem, false);
    try {
      const asked = specQuery({ ...found.spec, injection: "searched" }, store.defaults);
      const { spec } = await getAnswer(`/api/schedule${asked}`);
      put(found, {}, { injection: spec.injection });
    } catch (failure) {
      tell(failure);
    }
  }

  function tell(failure: unknown) {
    setText(problem, whyFailed(failure));
    setShown(problem, true);
  }

  diagnoses.onChange(() => keepFocus(node, draw));
  onRest(() => node.isConnected && nameScreen());
  return { panel: h("div", node), show: draw };
}

const empty = () => [
  h("h2", { text: t("Why is my step slow?") }),
  h("p", {
    text: t(
      "Open the traces of a real step: of torch's profiler, one file for each rank, a production timeline, " +
        "Megatron's timers, OpenTelemetry spans, or a table with rank, kind, micro-batch, start and end. What it " +
        "loses to each cause is said here, and what a repair would save.",
    ),
  }),
];

/** Which of the measured steps and replicas are diagnosed: all, or one. again: asks for others. */
function choices({ measured: { of } }: Diagnosis, chosen: Chosen, again: (change: Chosen) => void) {
  const choice = (key: keyof Chosen, label: string, all: string, numbers: number[]) => {
    if (numbers.length < 2) return "";
    const value = chosen[key];
    const options = numbers.map((number) =>
      h("option", { value: String(number), text: String(number), selected: number === value }),
    );
    const change = () => again({ [key]: select.value ? Number(select.value) : undefined });
    const select = h(
      `select#diagnosis-${key}`,
      { onchange: change },
      h("option", { value: "", text: all }),
      ...options,
    );
    return h("label", label, " ", select);
  };
  return h(
    "div.row.diagnosis-which",
    choice("step", t("Steps"), t("all"), of.steps),
    choice("replica", t("Replicas"), t("all"), of.replicas),
  );
}

function factsOf({ source, recognised, measured, replay }: Diagnosis, names: string[]) {
  const { p, m, v, nearest, title } = recognised;
  const order = title
    ? tr(title)
    : nearest
      ? t("an order of its own, nearest {title}: op {index} of rank {rank} is {here}, there {there}", {
          ...nearest,
          title: tr(nearest.title),
          here: nearest.here || t("none"),
          there: nearest.there || t("none"),
        })
      : t("an order of its own");
  const parts = [
    names.length > 2 ? t("{count} files", { count: names.length }) : names.join(", "),
    tr(source),
    `${order}, p ${p}, m ${m}, v ${v}`,
    t("{steps} steps of {replicas} replicas", { steps: measured.steps, replicas: measured.replicas }),
    measured.steps > 1
      ? t("step {ms} ms, from {least} to {most}", {
          ms: short(measured.step),
          least: short(measured.by_step.least),
          most: short(measured.by_step.most),
        })
      : t("step {ms} ms", { ms: short(measured.step) }),
    t("bubble {share}", { share: formatPercent(measured.bubble) }),
    t("replayed op by op: {share} of the measured time", { share: formatPercent(replay.ratio) }),
  ];
  return parts.join(" · ");
}

/** The times on the screen as a table of ops; null where ops have no end yet, run in pairs, or are too many. */
export function tableOf({ schedule, times }: Lane) {
  const { p, chunks, codes, offsets, placement, count } = schedule;
  if (!count || count > MOST_OPS) return null;
  const { first } = micros(schedule);
  const lines = [HEADINGS];
  for (let rank = 0; rank < p; rank++) {
    for (let i = offsets[rank]; i < offsets[rank + 1]; i++) {
      const kind = kindOf(codes[i], chunks);
      if (kind >= KIND_PAIR || !Number.isFinite(times.end[i])) return null;
      const slot = rank * chunks + chunkOf(codes[i], chunks);
      const micro = globalMicro(schedule, slot, first[i]);
      lines.push([rank, placement.stage[slot], LETTERS[kind], micro, times.start[i], times.end[i]].join(","));
    }
  }
  return lines.join("\n");
}
