// The arithmetic: from a model and a machine to milliseconds and bytes, each step with its formula and its numbers.
import { ask, costsPath, detailPath, known, shelf, titlesOf, type Priced, type Step } from "../../data/costs/api.ts";
import { stepUnits, type DeviceMemory } from "../../data/costs/step_units.ts";
import { bytesText, mathText, quantity, rateText } from "../../data/costs/quantities.ts";
import { filled, h, replace } from "../../ui/dom.ts";
import { tableHead, tableRow } from "../../ui/table.ts";
import { t, tr } from "../../core/i18n/language.ts";
import { formatNumber } from "../../core/i18n/numbers.ts";
import type { Plan } from "../../data/plan.ts";
import type { Store } from "../../data/store.ts";

/** The letters of the formulas. */
const letterNames = (): Record<string, string> => ({
  s: t("sequence"),
  b: t("micro-batch"),
  h: t("hidden size"),
  a: t("heads"),
  k: t("key and value heads"),
  d: t("feed-forward size"),
  g: t("head width"),
  V: t("vocabulary"),
  L: t("layers"),
  gr: t("width of a key's part with position"),
  gv: t("value width"),
  rq: t("latent of the queries"),
  rk: t("latent of keys and values"),
  R: t("routed experts"),
  E: t("experts per token"),
  j: t("shared experts"),
  de: t("feed-forward size of an expert"),
  p: t("devices"),
  v: t("chunks"),
  t: t("tensor-parallel degree"),
  u: t("shares of a tensor along the sequence"),
  C: t("context-parallel degree"),
  S: t("tokens of a sequence on a rank"),
  G: t("expert-parallel degree"),
  e: t("efficiency"),
  P: t("peak rate"),
  mu: t("share of the peak in large products"),
  eta: t("share of the peak in the attention core"),
  o: t("what a dimension of a product is longer in effect"),
  B: t("memory bandwidth that is reached"),
  H: t("memory bandwidth"),
  D: t("link to host memory"),
  Xt: t("link inside a node that is reached"),
  X: t("link"),
  y: t("latency of a hop"),
  n: t("data-parallel replicas"),
});

/** plan: the first schedule; open: the section where a model is chosen. */
export function createArithmetic(store: Store, plan: () => Plan, open: () => void) {
  const panel = h("div");
  let shown = "";

  function show() {
    if (panel.hidden) return;
    const { preset, spec } = store.get();
    if (!preset) {
      if (shown !== "nothing") replace(panel, nothing(open));
      shown = "nothing";
      return;
    }
    const { schedule, shown: drawn } = plan();
    if (!schedule || drawn?.p !== spec.p || drawn?.v !== spec.v) return; // until the schedule is here
    const held = stepUnits(known(costsPath(preset, spec)), plan())?.memory.held;
    const path = held ? detailPath(preset, spec, held) : costsPath(preset, spec);
    const priced = known(path);
    if (!priced) {
      if (!shown) replace(panel, h("p", { text: t("Loading the arithmetic …") }));
      ask(path).then(show, () => {});
      return;
    }
    const now = [path, drawn.family, drawn.w_share, shelf() !== undefined].join(" ");
    if (now === shown) return;
    shown = now;
    replace(
      panel,
      h("h2", { text: t("{preset}: from the model to milliseconds and bytes", { preset: titlesOf(preset) }) }),
      h("p.footnote.counted", { text: t("Included: {what}.", { what: mathText(tr(priced.counted)) }) }),
      h("div.arithmetic", steps(priced), memoryOf(priced, stepUnits(priced, plan())?.memory)),
      letters(priced),
    );
  }

  return { panel, show };
}

const nothing = (open: () => void) =>
  h(
    "p.note",
    ...filled(
      t(
        "The costs are numbers without a unit. {choose} to see them in milliseconds, with every step of the " +
          "arithmetic.",
      ),
      { choose: h("button.link", { onclick: open }, t("Choose a model and a machine")) },
    ),
  );

function steps({ arithmetic }: Priced) {
  const value = h("th.value", { scope: "col", text: t("Value") });
  const head = tableHead(t("Quantity"), t("Formula"), t("With the numbers"), value);
  return h("table#arithmetic.lined.steps-table", head, h("tbody", ...arithmetic.map(row)));
}

function row({ name, symbol, formula, numbers, value, unit }: Step) {
  const letter = symbol && symbol.length < 4 ? h("i", { text: `${symbol} = ` }) : "";
  return tableRow(
    tr(name),
    h("td.formula", letter, mathText(formula)),
    h("td.formula", { text: mathText(numbers) }),
    h("td.value", { title: `${value} ${tr(unit)}`, text: quantity(value, unit) }),
  );
}

function letters({ names }: Priced) {
  const used = Object.entries(letterNames()).filter(([name]) => name in names);
  return h(
    "dl.footnote.row.letters",
    ...used.map(([name, text]) =>
      h("div", h("dt", { text: name }), h("dd", { text: `${text} ${letterValue(name, names[name])}` })),
    ),
  );
}

const LETTER_UNITS: Record<string, string> = {
  P: "FLOP/s",
  ...Object.fromEntries(["H", "B", "D", "X", "Xt"].map((name) => [name, "B/s"])),
};

function letterValue(letter: string, value: number) {
  if (letter === "y") return `${Number((value * 1e6).toPrecision(4))} µs`;
  const unit = LETTER_UNITS[letter];
  return unit ? quantity(value, unit) : mathText(String(Number(value.toPrecision(6))));
}

/** What a device keeps for each parameter. */
const stateNames = (): Record<string, string> => ({
  weights: t("weights"),
  gradients: t("gradients"),
  optimizer: t("optimizer"),
  reserve: t("reserve"),
});

/** How much of a part a device has, in words and numbers. */
function partFormula(name: string, size: number, { bytes }: Priced, memory: DeviceMemory, rank: number) {
  const each = bytes.per_parameter[name];
  if (name === "activations")
    return t("{held} micro-batches × {size}", {
      held: formatNumber(memory.held[rank]),
      size: bytesText(memory.activations[rank]),
    });
  if (name === "reserve") return t("buffers, gaps of the allocator, the device's own context: stated, not derived");
  return each
    ? t("{bytes} B × {parameters} parameters", { bytes: formatNumber(each), parameters: rateText(size / each) })
    : "";
}

/** What each device holds against what it has: a bar a rank, and the parts of one. */
function memoryOf(priced: Priced, memory?: DeviceMemory) {
  const { vocabulary_ratio, memory_note } = priced;
  const ratio = h(
    "p#vocabulary-ratio.footnote.ratio",
    ...filled(
      t("Vocabulary ratio {ratio}: the output layer has that many times the parameters of a transformer layer."),
      { ratio: h("b", { text: vocabulary_ratio.toFixed(2) }) },
    ),
  );
  if (!memory) return h("section.bytes", ratio);
  const { ranks, parts, limit } = memory;
  const whole = Math.max(memory.most, limit);
  const title = h("h3");
  const list = h("dl");
  const verdict = h("p");
  const bars = ranks.map((total, rank) => {
    const bar = h(
      "button.bytes-bar",
      {
        onclick: () => choose(rank),
        "aria-label": t("rank {rank}: {size}", { rank, size: bytesText(total) }),
        title: t("rank {rank}: {size}", { rank, size: bytesText(total) }),
      },
      ...parts.map(({ ranks: sizes }, at) => {
        const part = h("i", { class: `part-${at}` });
        part.style.width = `${(100 * sizes[rank]) / whole}%`;
        return part;
      }),
      h("u"),
    );
    bar.style.setProperty("--limit", `${(100 * limit) / whole}%`);
    return bar;
  });

  function choose(rank: number) {
    const total = ranks[rank];
    bars.forEach((bar, at) => bar.setAttribute("aria-pressed", String(at === rank)));
    title.textContent =
      rank === memory!.rank
        ? t("Memory of the fullest device, rank {rank}", { rank })
        : t("Memory of rank {rank}", { rank });
    replace(
      list,
      ...parts.map(({ name, ranks: sizes }, at) => {
        const label =
          name === "activations"
            ? t("activations, {held} held", { held: formatNumber(memory!.held[rank]) })
            : stateNames()[name];
        const how = partFormula(name, sizes[rank], priced, memory!, rank);
        return h(
          "div",
          h("dt", h("i", { class: `part-${at}` }), label),
          h("dd", h("details.how", h("summary", { text: bytesText(sizes[rank]) }), h("span", { text: how }))),
        );
      }),
      h("div.sum", h("dt", { text: t("total") }), h("dd", { text: bytesText(total) })),
      h("div", h("dt", { text: t("the device has") }), h("dd", { text: bytesText(limit) })),
    );
    verdict.className = total <= limit ? "within" : "over";
    verdict.textContent =
      total <= limit
        ? t("Fits, with {size} to spare.", { size: bytesText(limit - total) })
        : t("Does not fit: {size} too much.", { size: bytesText(total - limit) });
  }

  choose(memory.rank);
  return h(
    "section#bytes.bytes",
    title,
    h("div.bytes-bars", { role: "group", "aria-label": t("Memory of each rank") }, ...bars),
    list,
    verdict,
    tr(memory_note) ? h("p.memory-note", { text: tr(memory_note) }) : null,
    ratio,
  );
}
