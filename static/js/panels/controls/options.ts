// The options on top of a family: forwards alone, where the output layer is, what goes to host memory, layers of each
// stage.
import { h, hasServer, replace, setText, show } from "../../ui/dom.ts";
import { getAnswer, whyFailed } from "../../data/api.ts";
import { withField, withoutBackwards } from "../../data/spec_fields.ts";
import { modesName, vocabularyName } from "../../data/option_names.ts";
import { t } from "../../core/i18n/language.ts";
import { ModesField } from "../../ui/fields/modes.ts";
import { StageTable } from "../../ui/fields/stage_table.ts";
import { LAYERS_A_STAGE, natural, stagesOf } from "../../core/schedule/effective_costs.ts";
import { offloadOfChunks, ofStages } from "../../core/schedule/per_chunk.ts";
import { BARRIERS, IMPORTED, OFFLOAD_OF_CHUNK } from "../../core/schedule/spec_tables.ts";
import { formatNumber, formatPercent } from "../../core/i18n/numbers.ts";
import { entering } from "../../core/schedule/sizes.ts";
import { replicaEnds, stepsByEntry } from "../../core/families/entry_gain.ts";
import { stepsByReceives } from "../../core/families/stream_gain.ts";
import { onRest } from "../../ui/rest.ts";
import { tame } from "../../data/costs/time_unit.ts";
import type { Field } from "../../ui/fields/field.ts";
import type { Family, Modes, Spec } from "../../core/schedule/types.ts";

type OptionActs = {
  spec: () => Spec;
  family: () => Family | null;
  put: (next: Spec, field: string) => void;
  query: (spec: Spec) => string; // to the server
};

/** What a place for the output layer means; the words are the paper's. */
const vocabularyMeans = (): Record<string, string> => ({
  plain: t("The last stage has the whole output layer."),
  redistribute: t("The last stage has the whole output layer, and fewer transformer layers for it."),
  "parallel-1": t(
    "Every device has a shard of the vocabulary: S makes its logits, T their gradients. All wait for each other " +
      "after both: two barriers.",
  ),
  "parallel-2": t(
    "Every device has a shard of the vocabulary. S makes the input gradient's products too, so one barrier is " +
      "enough, and T may run late.",
  ),
  interlaced: t(
    "Every device has a shard of the vocabulary, and all do S and T of a micro-batch at the same time. That " +
      "takes half as much memory again.",
  ),
});
const offloadMeans = (): Record<string, string> => ({
  none: t("Every activation stays on its device."),
  selective: t("The first half of a device's chunks, whose activations live longest, go to host memory and back."),
  full: t("The activations of all chunks that live long enough go to host memory and back."),
});

const entriesMean = (): Record<string, string> => ({
  given: t("As the data has them"),
  mountain: t("Rising, then falling: small ones first and last"),
  ...(hasServer && { searched: t("The server tries a thousand orders, and lists the fastest") }),
});
const dealsMean = (): Record<string, string> => ({
  given: t("Each replica takes the next m of the data"),
  longest: t("The longest first, each to the replica with the least work so far"),
});
const dealName = (value: string) => ({ given: t("as given"), longest: t("longest first") })[value] ?? value;
const streamsMean = (): Record<string, string> => ({
  none: t("Each message passes alone: a hop is a delay."),
  rank: t("All messages of a rank pass one by one, as torch has them by default."),
  direction: t("Activations of a rank pass one by one, and gradients."),
  edge: t("Messages from one rank to another pass one by one."),
});
const streamsName = (value: string) =>
  ({
    none: t("each alone"),
    rank: t("one a rank"),
    direction: t("one a direction"),
    edge: t("one a pair"),
  })[value] ?? value;
const receivesMean = (): Record<string, string> => ({
  torch: t("Posted where torch posts them: when their sender's op is lowered."),
  deferred: t("Held back until the op that needs them, as torch's defer_pp_recv does."),
  placed: t("In the order in which messages become ready: none stands behind one that is later."),
});
const receivesName = (value: string) =>
  ({ torch: t("torch's"), deferred: t("deferred"), placed: t("placed") })[value] ?? value;

const DRAWN = "lognormal:0.3:1";
const SEARCHED = "searched";

export class Options {
  acts: OptionActs;

  #summary = h("span.cut.dim");
  #vocabulary = select("vocabulary", vocabularyMeans(), vocabularyName, (value) => this.#pickVocabulary(value));
  #vocabularyRow = row(t("output layer"), this.#vocabulary);
  #offload = new ModesField({
    id: "offload",
    label: t("offload"),
    ofEach: t("offload of each chunk"),
    describedBy: "offload-means",
    words: offloadMeans(),
    ofChunk: OFFLOAD_OF_CHUNK,
    name: modesName,
    spread: offloadOfChunks,
    put: (modes) => this.#pickOffload(modes),
  });
  #link = h("input#shared-link", {
    type: "checkbox",
    onchange: () => this.acts.put(withField(this.acts.spec(), "shared_link", this.#link.checked), "shared_link"),
  });
  #linkRow = h("label.check", this.#link, t("Two devices share one link to host memory"));
  #forwardOnly = h("input#forward-only", {
    type: "checkbox",
    "aria-describedby": "forward-only-means",
    onchange: () => this.acts.put(withoutBackwards(this.acts.spec(), this.#forwardOnly.checked), "forward_only"),
  });
  #forwardOnlyRow = h("label.check", this.#forwardOnly, t("Forward only (inference)"));
  #forwardOnlyMeans = h("p#forward-only-means.footnote.hint", {
    text: t("Each stage runs one F per micro-batch. Nothing is kept for a backward pass."),
  });
  #draw = h(
    "button#draw-sizes.link",
    { onclick: () => this.acts.put(withField(this.acts.spec(), "sizes", DRAWN), "sizes") },
    t("Let micro-batches differ"),
  );
  #injection = select(
    "injection",
    entriesMean(),
    (value) =>
      ({ given: t("as given"), mountain: t("mountain"), searched: t("search for the fastest") })[value] ?? value,
    (value) => void this.#pickEntry(value),
  );
  #listed = h("option", { value: "listed", text: t("as listed"), disabled: true });
  #injectionRow = row(t("entry"), this.#injection);
  #gain = h("p#injection-means.footnote.hint");
  #deal = select("deal", dealsMean(), dealName, (value) =>
    this.acts.put(withField(this.acts.spec(), "deal", value), "deal"),
  );
  #dealRow = row(t("dealt"), this.#deal);
  #ends = h("div#replica-ends.replica-ends", {
    role: "img",
    "aria-label": t("When each replica ends"),
    onclick: (event: MouseEvent) => this.#pickReplica(event),
  });
  #waits = h("p#replicas-mean.footnote.hint");
  #streams = select("streams", streamsMean(), streamsName, (value) =>
    this.acts.put(withField(this.acts.spec(), "streams", value), "streams"),
  );
  #receives = select("receives", receivesMean(), receivesName, (value) =>
    this.acts.put(withField(this.acts.spec(), "receives", value), "receives"),
  );
  #receivesRow = row(t("receives"), this.#receives);
  #inLine = h("p#streams-mean.footnote.hint");
  #means = h("p#vocabulary-means.footnote.hint");
  #ratio = h("p#offload-means.footnote.hint");
  node = h("details#options.fold.options");
  #layers = new StageTable(
    "stage-layers",
    t("Edit layers per stage"),
    [{ name: "layers", symbol: t("layers"), whole: true }],
    {
      read: () => [layersOf(this.acts.spec())],
      put: ([{ list }]) => this.acts.put(withField(this.acts.spec(), "layers", list), "layers"),
    },
  );
  /** What is shown. */
  #synced: unknown[] = [];
  #said: Spec | null = null;

  constructor(acts: OptionActs, fields: Map<string, Field>) {
    this.acts = acts;
    onRest(() => this.#sayGains());
    const node = (name: string) => (fields.get(name) as Field).node;
    this.node.append(
      h("summary", h("span", { text: t("Options") }), this.#summary),
      h(
        "div.options-form",
        this.#forwardOnlyRow,
        this.#forwardOnlyMeans,
        this.#vocabularyRow,
        this.#means,
        node("S"),
        node("T"),
        this.#offload.node,
        node("O"),
        this.#ratio,
        this.#linkRow,
        row(t("messages"), this.#streams),
        this.#receivesRow,
        this.#inLine,
        node("wire"),
        node("weights"),
        node("layers"),
        this.#layers.node,
        node("frozen"),
        node("sizes"),
        this.#draw,
        this.#injectionRow,
        this.#gain,
        node("fixed"),
        node("replicas"),
        this.#dealRow,
        this.#ends,
        this.#waits,
        node("replica"),
      ),
    );
  }

  /** Work for S and T comes with the choice, so that a schedule beside this one has the same output layer to do. */
  #pickVocabulary(mode: string) {
    let spec = withField(withField(this.acts.spec(), "vocabulary", mode), "FB", null);
    const own = natural(spec);
    for (const name of ["S", "T"] as const) {
      if (mode !== "plain" && spec.costs[name] === null) spec = withField(spec, name, Number(own[name].toPrecision(6)));
    }
    if (BARRIERS[mode] > 0) spec = { ...spec, lifo: false, offload: "none", shared_link: false };
    this.acts.put(mode === "redistribute" ? { ...spec, costs: evened(spec) } : spec, "vocabulary");
  }

  /** What is copied is not recomputed in full as well. */
  #pickOffload(modes: Modes) {
    const spec = withField(this.acts.spec(), "offload", modes);
    const copied = offloadOfChunks(modes, spec.v);
    const recomputed = ofStages(spec.recompute, spec.v);
    const either = recomputed.map((mode, chunk) => (mode === "full" && copied[chunk] === "full" ? "none" : mode));
    const shared_link = spec.offload !== "none" && spec.shared_link;
    const vocabulary = spec.offload !== "none" && BARRIERS[spec.vocabulary] > 0 ? "plain" : spec.vocabulary;
    this.acts.put({ ...withField(spec, "recompute", either), shared_link, vocabulary }, "offload");
  }

  /** Update the options from the state. */
  sync() {
    const spec = this.acts.spec();
    const family = this.acts.family();
    const { forward_only, vocabulary, offload, recompute, shared_link, layers, weights, costs, p, v } = spec;
    this.#layers.sync();
    this.#syncSizes(spec);
    const now = [family, forward_only, vocabulary, offload, recompute, shared_link, layers, weights, costs, p, v];
    now.push(spec.sizes, spec.streams, spec.receives);
    if (now.every((each, at) => each === this.#synced[at])) return; // a drag of m changes nothing here
    this.#synced = now;
    const alone = Boolean(family?.fields.includes("forward_only"));
    this.#forwardOnly.checked = forward_only;
    this.#forwardOnly.disabled = spec.family === IMPORTED;
    show(this.#forwardOnlyRow, alone || forward_only);
    show(this.#forwardOnlyMeans, forward_only);
    show(this.#vocabularyRow, !forward_only);
    const spread = family?.vocabulary ?? [];
    for (const option of this.#vocabulary.options) {
      const able = BARRIERS[option.value] === 0 || spread.includes(option.value);
      option.hidden = option.disabled = !able && option.value !== spec.vocabulary;
    }
    this.#vocabulary.value = spec.vocabulary;
    const head = spec.costs.S !== null || spec.costs.T !== null;
    show(this.#means, spec.vocabulary !== "plain" || head);
    setText(this.#means, vocabularyMeans()[spec.vocabulary] ?? "");
    this.#offload.set(offload, v);
    this.#offload.row.title = typeof offload === "string" ? (offloadMeans()[offload] ?? "") : "";
    show(this.#offload.node, !forward_only && (offload !== "none" || Boolean(family?.fields.includes("offload"))));
    show(this.#linkRow, spec.offload !== "none");
    this.#link.checked = spec.shared_link;
    show(this.#ratio, spec.offload !== "none");
    if (spec.offload !== "none") setText(this.#ratio, ratioText(spec));
    const active = activeOptions(spec);
    this.#streams.value = spec.streams;
    this.#receives.value = spec.receives;
    for (const node of [this.#receivesRow, this.#inLine]) show(node, spec.streams !== "none");
    replace(this.#summary, active.join(t(", ")));
    if (active.length) this.node.open = true;
  }

  /** The order that the server finds is then listed in the spec, unless that has changed meanwhile. */
  async #pickEntry(value: string) {
    const asked = this.acts.spec();
    const put = (injection: unknown) => this.acts.put(withField(asked, "injection", injection), "injection");
    if (value !== SEARCHED) return put(value);
    setText(this.#gain, t("Searching …"));
    try {
      const { spec } = await getAnswer(`/api/schedule${this.acts.query({ ...asked, injection: SEARCHED })}`);
      if (this.acts.spec() === asked) put(spec.injection);
    } catch (problem) {
      if (this.acts.spec() !== asked) return;
      setText(this.#gain, whyFailed(problem));
      this.#syncSizes(asked);
    }
  }

  /** Micro-batches that differ, and what another order of entry would give. */
  #syncSizes(spec: Spec) {
    const { sizes, injection } = spec;
    show(this.#draw, sizes === null);
    show(this.#injectionRow, sizes !== null);
    show(this.#gain, sizes !== null);
    for (const node of [this.#dealRow, this.#ends, this.#waits]) show(node, spec.replicas > 1);
    if (sizes === null) return;
    const listed = Array.isArray(injection);
    if (listed && !this.#listed.isConnected) this.#injection.append(this.#listed);
    this.#injection.value = listed ? this.#listed.value : injection;
    this.#deal.value = spec.deal;
  }

  /** A bar for each replica's end, the shown one marked, and what they lose by waiting for the slowest. */
  #sayReplicas(spec: Spec) {
    const found = replicaEnds(spec);
    setText(this.#waits, found ? replicasText(spec, found) : t("Too many ops to time every replica while you rest."));
    const most = Math.max(...(found?.ends ?? []));
    const bars = (found?.ends ?? []).map((end, replica) => {
      const title = t("replica {replica}: {end}", { replica, end: formatNumber(Number(end.toPrecision(4))) });
      const name = replica === spec.replica ? "span.shown" : end === most ? "span.slowest" : "span";
      const bar = h(name, { title });
      bar.style.height = `${(100 * end) / most}%`;
      return bar;
    });
    replace(this.#ends, ...bars);
  }

  #pickReplica({ target }: MouseEvent) {
    const at = [...this.#ends.children].indexOf(target as Element);
    if (at >= 0) this.acts.put(withField(this.acts.spec(), "replica", at), "replica");
  }

  /** Say it when the reader rests: it takes a step of its own. */
  #sayGains() {
    const spec = this.acts.spec();
    if (spec === this.#said) return;
    this.#said = spec;
    if (spec.sizes !== null) setText(this.#gain, entryText(spec));
    if (spec.replicas > 1) this.#sayReplicas(spec);
    if (spec.streams !== "none") setText(this.#inLine, streamsText(spec));
  }
}

/** Layers of each stage; where none are given, as many as redistribution begins with. */
function layersOf(spec: Spec) {
  const stages = stagesOf(spec);
  return spec.layers && spec.layers.length === stages ? spec.layers : new Array(stages).fill(LAYERS_A_STAGE);
}

/** What is chosen, for the closed group. */
function activeOptions(spec: Spec) {
  const out = [];
  if (spec.forward_only) out.push(t("forward only"));
  if (spec.frozen) out.push(t("frozen stages {stages}", { stages: spec.frozen.join(", ") }));
  if (spec.vocabulary !== "plain") out.push(vocabularyName(spec.vocabulary));
  else if (spec.costs.S !== null || spec.costs.T !== null) out.push(t("output layer"));
  if (spec.offload !== "none") out.push(t("offload {how}", { how: modesName(spec.offload) }));
  if (spec.layers !== null) out.push(t("layers"));
  if (spec.weights !== null) out.push(t("stashed weights"));
  if (spec.sizes !== null) out.push(t("micro-batches differ"));
  if (spec.streams !== "none") out.push(t("messages on streams"));
  return out;
}

/** The smallest and the largest micro-batch, and what the order of entry changes. */
function entryText(spec: Spec) {
  const sizes = entering(spec);
  if (!sizes) return "";
  const number = (x: number) => formatNumber(Number(x.toPrecision(3)));
  const range = t("Sizes from {least} to {most}.", {
    least: number(Math.min(...sizes)),
    most: number(Math.max(...sizes)),
  });
  const steps = stepsByEntry(spec);
  if (!steps) return range;
  const change = (x: number) => `${x < 0 ? "−" : "+"}${formatPercent(Math.abs(x))}`;
  const gain = t("A step takes {given} as given, {mountain} as a mountain ({change}).", {
    given: number(steps.given),
    mountain: number(steps.mountain),
    change: change(steps.mountain / steps.given - 1),
  });
  const { listed } = steps;
  if (listed === null) return range + t(" ") + tame(gain);
  const own = t("As listed: {listed} ({change}).", {
    listed: number(listed),
    change: change(listed / steps.given - 1),
  });
  return [range, tame(gain), tame(own)].join(t(" "));
}

/** What replicas lose by waiting for the slowest, and what dealing would give. */
function replicasText(spec: Spec, { ends, dealt }: { ends: number[]; dealt: number }) {
  const step = Math.max(...ends);
  const mean = ends.reduce((sum, end) => sum + end, 0) / ends.length;
  const number = (x: number) => formatNumber(Number(x.toPrecision(3)));
  const said = t("The step takes {step}, as long as replica {slowest}: {waiting} of all device time waits for it.", {
    step: number(step),
    slowest: ends.indexOf(step),
    waiting: formatPercent(1 - mean / step),
  });
  if (spec.deal === "longest" && spec.injection === "mountain") return tame(said);
  const gain = `${dealt < step ? "−" : "+"}${formatPercent(Math.abs(dealt / step - 1))}`;
  const best = t("Dealt longest first, and as a mountain: {step} ({change}).", { step: number(dealt), change: gain });
  return tame(said + t(" ") + best);
}

/** What standing in line costs, and what placed receives would give. */
function streamsText(spec: Spec) {
  const steps = stepsByReceives(spec);
  if (!steps) return "";
  const number = (x: number) => formatNumber(Number(x.toPrecision(3)));
  const change = (x: number) => `${x < 0 ? "−" : "+"}${formatPercent(Math.abs(x))}`;
  const values = {
    step: number(steps.now),
    change: change(steps.now / steps.alone - 1),
    placed: change(steps.placed / steps.alone - 1),
  };
  if (spec.receives === "placed")
    return tame(t("A step takes {step}: {change} over messages that pass alone.", values));
  return tame(t("A step takes {step}: {change} over messages that pass alone; placed receives: {placed}.", values));
}

/** k, the copies' time over the compute's (PipeOffload). */
function ratioText(spec: Spec) {
  const own = natural(spec);
  const one = (typeof spec.costs.O === "number" ? spec.costs.O : own.O) * (spec.shared_link ? 2 : 1);
  const k = one / own.O;
  const whole = t("k = {k}: both copies against compute.", { k: formatNumber(Number(k.toPrecision(3))) });
  if (spec.offload === "selective")
    return whole + t(" ") + t("Half of the chunks are copied, so up to k = 2 the copies keep up.");
  if (typeof spec.offload !== "string") {
    const count = spec.offload.filter((mode) => mode === "full").length;
    const most = formatNumber(Number((spec.v / count).toPrecision(3)));
    const some = t("{count} of {v} chunks are copied, so up to k = {most} the copies keep up.", {
      count,
      v: spec.v,
      most,
    });
    return whole + t(" ") + some;
  }
  return whole + t(" ") + (k <= 1 ? t("Up to k = 1 the copies keep up.") : t("Above k = 1 compute waits for them."));
}

/** One number where there was one a stage: layers spread a device's whole share. */
function evened({ costs, p }: Spec): Spec["costs"] {
  const one = (cost: number | number[]) =>
    Array.isArray(cost) ? Number((cost.reduce((sum, x) => sum + x, 0) / p).toPrecision(6)) : cost;
  return { ...costs, F: one(costs.F), I: one(costs.I), W: one(costs.W) };
}

function select(
  id: string,
  words: Record<string, string>,
  name: (value: string) => string,
  pick: (value: string) => void,
) {
  const options = Object.entries(words).map(([value, title]) => h("option", { value, text: name(value), title }));
  const node = h("select", { id, onchange: () => pick(node.value), "aria-describedby": `${id}-means` }, ...options);
  return node;
}

const row = (label: string, control: HTMLElement) => h("label.choice", h("span", { text: label }), control);
