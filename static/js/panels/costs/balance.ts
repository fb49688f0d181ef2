// "Balance": moves layers away from the stages that also have the embedding or the head, and shows the gain. The
// split is made for one schedule; another one with as many stages takes it too.
import { ask, balancePath, evenly, known, withLayers } from "../../data/costs/api.ts";
import { timeNumber } from "../../data/costs/time_unit.ts";
import { bytesText, runs } from "../../data/costs/quantities.ts";
import { filled, h, replace, sentence, setText, show } from "../../ui/dom.ts";
import { fillSegments } from "../../ui/fields/choices.ts";
import { tableHead, tableRow } from "../../ui/table.ts";
import { formatPercent } from "../../core/i18n/numbers.ts";
import { t, tr } from "../../core/i18n/language.ts";
import { letter, specAt, specsOf } from "../../core/state/schedules.ts";
import type { Spec } from "../../core/schedule/types.ts";
import type { Slot } from "../../data/costs/preset_costs.ts";
import type { Store } from "../../data/store.ts";

type Side = {
  layers: number[];
  makespan: number;
  costs: { F: number[]; I: number[]; W: number[] };
  memory: { most: number; limit: number; rank: number; fits: boolean };
};
type Answer = { before: Side; after: Side; p: number; m: number };

const stages = ({ p, v }: Spec) => p * v;

export class Balance {
  store: Store;
  title: (name: string) => string;

  /** The schedule that the layers are moved for. */
  #which: Slot = 0;
  #choice = h("div.which", {
    role: "group",
    "aria-label": t("Which schedule to balance the layers for"),
    hidden: true,
  });
  #button = h("button#balance.button.soft", { onclick: () => this.#run() }, t("Balance the layers"));
  #result = h("div#balance-result", { "aria-live": "polite" });
  node = h("div.balance", { hidden: true }, this.#choice, this.#button, this.#result);
  #shown = "";
  #seen: number[] | null = null;

  /** title: of a family. */
  constructor(store: Store, title: (name: string) => string) {
    this.store = store;
    this.title = title;
  }

  /** The schedule that is meant: the one chosen; layers that are new and fit only one choose that. */
  get #spec() {
    const state = this.store.get();
    const layers = state.preset?.layers ?? null;
    const now = specAt(state, this.#which);
    if (layers !== this.#seen && layers && (!now || stages(now) !== layers.length)) {
      this.#which = Math.max(
        0,
        specsOf(state).findIndex((spec) => stages(spec) === layers.length),
      );
    }
    this.#seen = layers;
    if (this.#which > state.others.length) this.#which = 0;
    return specAt(state, this.#which) ?? state.spec;
  }

  /** What is on the screen: null where the layers are even. */
  #state(spec: Spec): "balanced" | "other" | null {
    const { preset } = this.store.get();
    if (!preset?.layers || preset.layers.length !== stages(spec)) return null;
    const answer: Answer | undefined = known(balancePath(preset, spec));
    return !answer || answer.after.layers.join() === preset.layers.join() ? "balanced" : "other";
  }

  /** Update from the state: the gain stays while it still applies to this schedule. */
  sync() {
    const { preset } = this.store.get();
    show(this.node, preset !== null && preset.heads !== false);
    if (!preset || preset.heads === false) {
      this.#clear();
      return;
    }
    const spec = this.#spec;
    this.#drawChoice();
    const path = balancePath(preset, spec);
    const answer = known(path);
    const now = this.#state(spec);
    setText(this.#button, now === "balanced" ? t("Even layers again") : t("Balance the layers"));
    if (now === null) this.#clear();
    else if (answer) this.#tell(path, answer, now);
    else
      ask(path).then(
        () => this.sync(),
        () => {},
      ); // a link to balanced layers tells what they win
  }

  #drawChoice() {
    const specs = specsOf(this.store.get());
    show(this.#choice, specs.length > 1);
    const segments = specs.map(({ family }, slot) => ({
      text: `${letter(slot)} · ${this.title(family)}`,
      "data-slot": slot,
    }));
    fillSegments(this.#choice, segments, this.#which, (slot) => {
      this.#which = slot;
      this.sync();
    });
  }

  #clear() {
    this.#shown = "";
    replace(this.#result);
  }

  async #run() {
    const { preset } = this.store.get();
    if (!preset) return;
    const spec = this.#spec;
    if (this.#state(spec) === "balanced") return this.#even();
    const path = balancePath(preset, spec);
    this.#button.disabled = true;
    try {
      const answer = await ask(path);
      const now = this.store.get().preset;
      if (now && balancePath(now, this.#spec) === path)
        this.store.set({ preset: withLayers(now, answer.after.layers) }, "push");
    } catch (problem) {
      replace(
        this.#result,
        h("p.problem", { text: problem instanceof Error ? sentence(tr(problem)) : String(problem) }),
      );
    } finally {
      this.#button.disabled = false;
    }
  }

  /** Who has these layers, where two schedules are on the screen. */
  #whose() {
    const specs = specsOf(this.store.get());
    if (specs.length === 1) return "";
    const count = stages(this.#spec);
    const [same, others] = [true, false].map((is) =>
      specs.flatMap((spec, at) => ((stages(spec) === count) === is ? [letter(at)] : [])),
    );
    if (!others.length)
      return ` ${t("{letters} have {count} stages each, so all take them.", { letters: same.join(", "), count })}`;
    const even =
      others.length > 1
        ? t("{letters} keep even layers.", { letters: others.join(", ") })
        : t("{letter} keeps even layers.", { letter: others[0] });
    return ` ${even}`;
  }

  #tell(path: string, { before, after, p, m }: Answer, now: "balanced" | "other") {
    const key = `${path} ${now} ${this.#whose()}`;
    if (this.#shown === key) return;
    this.#shown = key;
    if (now === "other") {
      const layers = this.store.get().preset?.layers ?? [];
      replace(
        this.#result,
        h(
          "p.footnote.split",
          ...filled(t("Layers are {layers}, balanced for other settings. {again}"), {
            layers: h("b", { text: runs(layers) }),
            again: h("button.link", { onclick: () => this.#even() }, t("Even layers again")),
          }),
        ),
      );
      return;
    }
    const same = before.layers.join() === after.layers.join();
    const row = (name: string, of: (side: Side) => string) => tableRow(name, of(before), of(after));
    replace(
      this.#result,
      h(
        "table.balance-table",
        tableHead(h("td"), t("even"), t("balanced")),
        h(
          "tbody",
          row(t("Step, ms"), (side) => timeNumber(side.makespan)),
          row(t("Bubble"), (side) => formatPercent(1 - (m * sum(timesOf(side))) / (p * side.makespan))),
          row(t("Memory"), (side) => bytesText(side.memory.most)),
        ),
      ),
      h("p#balance-fits", { class: after.memory.fits ? "split" : "split bad", text: fitOf(before, after) }),
      h("div.bars", { "aria-hidden": "true" }, bars(before, after, before), bars(after, after, before)),
      h(
        "p.footnote.split",
        ...filled(same ? t("Layers {layers} are the best split already.") : t("Layers {before} become {after}."), {
          layers: h("span", { text: runs(before.layers) }),
          before: h("span", { text: runs(before.layers) }),
          after: h("b", { text: runs(after.layers) }),
        }),
        this.#whose(),
      ),
    );
  }

  #even() {
    const { preset } = this.store.get();
    if (preset) this.store.set({ preset: evenly(preset) }, "push");
  }
}

/** Whether the splits fit the device. */
function fitOf(before: Side, after: Side) {
  const { most, limit, rank, fits } = after.memory;
  const values = { total: bytesText(most), limit: bytesText(limit), rank };
  if (!fits)
    return t("No split found fits: {total} of {limit} on device {rank}. This one needs no more than before.", values);
  if (before.memory.fits) return t("Fits: {total} of {limit} on device {rank}", values);
  return t("The even split does not fit, this one does: {total} of {limit} on device {rank}.", values);
}

/** What a micro-batch takes on each stage. */
const timesOf = ({ costs: { F, I, W } }: Side) => F.map((f, stage) => f + I[stage] + W[stage]);

const sum = (list: number[]) => list.reduce((a, b) => a + b, 0);

/** One bar a stage, as high as it is long. */
function bars(side: Side, ...all: Side[]) {
  const most = Math.max(...all.flatMap(timesOf));
  return h(
    "div.stage-bars",
    ...timesOf(side).map((x) => {
      const bar = h("i");
      bar.style.height = `${(100 * x) / most}%`;
      return bar;
    }),
  );
}
