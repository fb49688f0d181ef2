// Tests of the view as a link, and of links read back.
import assert from "node:assert/strict";
import { test } from "node:test";

import { format, parse, specQuery, type State, type ViewState } from "../../../static/js/core/state/link.ts";
import { inWords } from "../../../static/js/core/schedule/per_chunk.ts";
import { plainPreset, presetEntries, type Preset } from "../../../static/js/core/state/link_preset.ts";
import { DEFAULTS, UNIT, seeded } from "../support/helpers.ts";
import type { Spec } from "../../../static/js/core/schedule/types.ts";

const VIEW = parse("", DEFAULTS).state.view;
const NATURAL = { "1f1b": 1, interleaved: 2, dualpipev: 2 };
const state = (
  spec: Partial<Spec>,
  others: Partial<Spec> | Partial<Spec>[] | null = null,
  view: Partial<ViewState> = {},
  preset: Preset | null = null,
): State => ({
  spec: { ...DEFAULTS, ...spec },
  others: (others === null ? [] : [others].flat()).map((other) => ({ ...DEFAULTS, ...other })),
  preset,
  view: { ...VIEW, ...view },
});
const read = (search: string) => parse(search, DEFAULTS, NATURAL);

/** Published forms: links of every one of these must keep working. */
const forms: [string, State][] = [
  ["", state({})],
  ["?family=zb-h1&p=8&m=32", state({ family: "zb-h1", p: 8, m: 32 })],
  ["?p=8&b.family=zb-h1", state({ p: 8 }, { family: "zb-h1", p: 8 })],
  ["?b.family=1f1b", state({}, {})],
  [
    "?p=8&b.family=zb-h1&c.family=zb-h2&d.m=16",
    state({ p: 8 }, [
      { family: "zb-h1", p: 8 },
      { family: "zb-h2", p: 8 },
      { p: 8, m: 16 },
    ]),
  ],
  ["?family=interleaved", state({ family: "interleaved", v: 2 })],
  [
    "?family=interleaved&v=4&group=8&b.group=none",
    state({ family: "interleaved", v: 4, group: 8 }, { family: "interleaved", v: 4 }),
  ],
  ["?family=interleaved&b.family=1f1b", state({ family: "interleaved", v: 2 }, { family: "1f1b", v: 1 })],
  ["?F=1.5,2*1.25,1.5&comm=0.25", state({ costs: { ...DEFAULTS.costs, F: [1.5, 1.25, 1.25, 1.5], comm: 0.25 } })],
  ["?memory=2.5&w_share=0.4324&lifo=true", state({ lifo: true, w_share: 0.4324, memory: 2.5 })],
  ["?forward_only=true", state({ forward_only: true })],
  ["?frozen=1*0", state({ frozen: [0] })],
  ["?frozen=1,3", state({ frozen: [1, 3] })],
  [
    "?m=3&sizes=1,1.2,0.8&fixed=0.1&injection=mountain",
    state({ m: 3, sizes: [1, 1.2, 0.8], fixed: 0.1, injection: "mountain" }),
  ],
  ["?m=1&sizes=1*2", state({ m: 1, sizes: [2] })],
  [
    "?sizes=lognormal:0.3:7&injection=7,0,1,2,3,4,5,6",
    state({ sizes: "lognormal:0.3:7", injection: [7, 0, 1, 2, 3, 4, 5, 6] }),
  ],
  [
    "?t0=3&t1=9.5&at=4.25&sel=2F5@3&theme=dark&tab=run&run=a1-B_2",
    state({}, null, { t0: 3, t1: 9.5, at: 4.25, sel: "2F5@3", theme: "dark", tab: "run", run: "a1-B_2" }),
  ],
  [
    "?p=2&F=20,18&m.model=llama3-70b&m.machine=h100&m.tp=8&m.data=16&m.zero=0&m.efficiency=0.45&m.heads=1" +
      "&m.sequence=8192&m.micro_batch=2&m.layers=2*39&tab=costs",
    state(
      { p: 2, costs: { ...DEFAULTS.costs, F: [20, 18] } },
      null,
      { tab: "costs" },
      {
        model: "llama3-70b",
        machine: "h100",
        tp: 8,
        data: 16,
        zero: 0,
        efficiency: 0.45,
        heads: true,
        sequence: 8192,
        micro_batch: 2,
        layers: [39, 39],
        own: {},
      },
    ),
  ],
  ["?m.model=gpt3", state({}, null, {}, plainPreset("gpt3"))],
  [
    "?m.model=gpt3&m.layers=48&m.hidden=5120&m.attn=40&m.kv=none&m.experts=8&m.flash=0&m.flops=4e14" +
      "&m.inter_s=1.5e-6&m.node=4",
    state(
      {},
      null,
      {},
      {
        ...plainPreset("gpt3"),
        own: {
          layers: 48,
          hidden: 5120,
          attention_heads: 40,
          kv_heads: null,
          experts: 8,
          flash: false,
          flops: 4e14,
          inter_latency: 1.5e-6,
          per_node: 4,
        },
      },
    ),
  ],
  [
    "?comm=3&m.model=gpt3&m.heads=1&m.off=1",
    { ...state({ costs: { ...DEFAULTS.costs, comm: 3 } }), origin: { ...plainPreset("gpt3"), heads: true } },
  ],
  ["?tab=compare&families=zb-h1,1f1b", state({}, null, { tab: "compare", families: "zb-h1,1f1b" })],
  ["?tab=charts&chart=pareto:bubble", state({}, null, { tab: "charts", chart: "pareto:bubble" })],
  ["?family=gis&v=4&offload=full&mem=0", state({ family: "gis", v: 4, offload: "full" }, null, { mem: "0" })],
  ["?families=-gpipe", state({}, null, { families: "-gpipe" })],
  ["?crit=1&micro=5&lane=comm&story=ranks", state({}, null, { crit: "1", micro: 5, lane: "comm", story: "ranks" })],
  ["?micro=0", state({}, null, { micro: 0 })],
  ["?gb=24.5", state({}, null, { gb: 24.5 })],
  ...["gpus:64;batch:1024", "framework:megatron;families:1f1b,interleaved;recompute:0;offload:0"].map(
    (plan): [string, State] => [`?plan=${plan}`, state({}, null, { plan })],
  ),
  ["?run=0f3a,r-2,x_3&pin=0,run2.3", state({}, null, { run: "0f3a,r-2,x_3", pin: "0,run2.3" })],
  ["?sel=(0F7;7B3)OVERLAP_F_B", state({}, null, { sel: "(0F7;7B3)OVERLAP_F_B" })],
];
test("a plain view has only a theme", () => {
  assert.deepEqual(
    Object.entries(VIEW).filter(([, value]) => value !== null),
    [["theme", "auto"]],
  );
});

for (const [search, expected] of forms) {
  test(`${search || "no query"} is read and written back unchanged`, () => {
    const { state: got, problems } = read(search);
    assert.deepEqual(problems, []);
    assert.deepEqual(got, expected);
    assert.equal(format(got, DEFAULTS, NATURAL), search);
  });
}

test("schedules move up where a letter is left out", () => {
  assert.deepEqual(read("?d.family=zb-h1").state.others, [{ ...DEFAULTS, family: "zb-h1" }]);
});

test("numbers may also be written in full, escaped, or with a comma list", () => {
  const { state: got, problems } = read("?F=1%2C2%2C3%2C4&lifo=1&p=08&m=8.0&FB=&theme=auto");
  assert.deepEqual(problems, []);
  assert.deepEqual(got.spec, { ...DEFAULTS, p: 8, lifo: true, costs: { ...DEFAULTS.costs, F: [1, 2, 3, 4] } });
});

const bad: Record<string, string[]> = {
  p: ["zero", "0", "-3", "2.5", "NaN", "1e999", "0x10"],
  m: [""],
  v: ["Infinity"],
  group: ["x"],
  memory: ["0"],
  w_share: ["1.01"],
  lifo: ["yes"],
  F: ["1,,2", "9999999*1", "1.5*2", "-1"],
  comm: ["1,2"],
  FB: ["-1"],
  family: ["<b>"],
  t0: ["-1"],
  at: ["soon"],
  sel: ["<script>"],
  theme: ["pink"],
  tab: ["No such"],
  run: ["../x", "a,b,c,d,e", "a,,b", ",a", "a b"],
  "b.p": ["none"],
  "b.family": ["A B"],
  chart: ["Pareto", "pareto:"],
  mem: ["2", "yes"],
  families: ["A,b", "-", "gpipe,"],
  gb: ["0", "0.0009", "1000001", "-4", "24GB", ""],
  crit: ["yes"],
  micro: ["-1"],
  lane: ["memory"],
  story: ["2"],
  plan: ["gpus:0", "recompute:1", "framework:none", "gpus:64;", "tp:8"],
  "m.model": ["<b>"],
  "m.tp": ["0"],
  "m.data": ["0"],
  "m.zero": ["4"],
  "m.hidden": ["0", "none"],
  "m.kv": ["2.5"],
  "m.flops": ["0"],
  "m.intra_s": ["-1"],
  "m.gated": ["no"],
  "m.efficiency": ["1.5"],
  "m.heads": ["yes"],
  "m.layers": ["1.5"],
};
const badOnes = Object.entries(bad).flatMap(([field, values]) => values.map((value) => [field, value]));
for (const [field, value] of badOnes) {
  test(`${field}=${value || "nothing"} is reported by name and its default taken`, () => {
    const { state: got, problems } = read(`?${new URLSearchParams({ m: "9", [field]: value })}`);
    const mine = problems.filter((problem) => problem.field === field);
    assert.equal(mine.length, 1);
    assert.equal(mine[0].value, value);
    assert.match(mine[0].message, new RegExp(`^${field.replace(".", "\\.")} (must be|is given twice)`));
    assert.deepEqual({ ...got.spec, m: 8 }, DEFAULTS);
    assert.deepEqual(got.view, VIEW);
  });
}

test("a zoom window that ends before it begins is reported and dropped", () => {
  const { state: got, problems } = read("?t0=9&t1=3");
  assert.deepEqual([got.view.t0, got.view.t1, problems.length], [null, null, 1]);
});

test("misspelt keys are reported with the nearest one, other sites' keys not; of two the first counts", () => {
  const { state: got, problems, unknown } = read("?p=8&famly=gpipe&utm_source=x&p=9");
  assert.equal(got.spec.p, 8);
  assert.deepEqual(unknown, { famly: "gpipe", utm_source: "x" });
  assert.deepEqual(problems.map(({ field }) => field).sort(), ["famly", "p"]);
  assert.match(problems.find(({ field }) => field === "famly")?.message ?? "", /did you mean family\?/);
  const theirs = [
    "utm_source",
    "utm_campaign",
    "fbclid",
    "gclid",
    "msclkid",
    "ref",
    "mc_cid",
    "mc_eid",
    "igshid",
    "si",
  ];
  assert.deepEqual(read(`?${theirs.map((key) => `${key}=1`).join("&")}`).problems, []);
  const asked = Object.fromEntries(
    read("?P=4&b.memmory=2&tehme=dark&m.machin=x&d.q=1").problems.map((each) => [each.field, each.message]),
  );
  assert.match(asked.P, /did you mean p\?/);
  assert.match(asked["b.memmory"], /did you mean b\.memory\?/);
  assert.match(asked.tehme, /did you mean theme\?/);
  assert.deepEqual(Object.keys(asked).sort(), ["P", "b.memmory", "d.q", "m.machin", "tehme"]);
});

test("names that every object inherits are not keys", () => {
  const { state: got, unknown } = read("?__proto__=1&constructor=2&toString=3");
  assert.deepEqual(got, state({}));
  assert.equal(unknown.constructor, "2");
});

/** A preset with some of everything; layers of stages and a number of layers exclude each other. */
function randomPreset(random: () => number, cost: () => number): Preset {
  const own = Object.fromEntries(
    Object.entries({
      layers: 1 + Math.floor(random() * 99),
      hidden: 5120,
      kv_heads: random() < 0.5 ? null : 8,
      reserve: cost() + 1e-15,
      gated: random() < 0.5,
      vocabulary: 2 ** 24,
      flops: 1e20 * (0.01 + random()),
      intra_latency: cost(),
    }).filter(() => random() < 0.5),
  );
  const layers =
    random() < 0.4 ? Array.from({ length: 1 + Math.floor(random() * 9) }, () => 9 + Math.floor(random() * 2)) : null;
  if (layers) delete own.layers;
  return {
    ...plainPreset("mixtral-8x7b"),
    tp: 8,
    data: 64,
    zero: 2,
    efficiency: random() || 1,
    heads: random() < 0.5,
    layers,
    own,
  };
}

function randomSpec(random: () => number, cost: () => number) {
  const below = (n: number) => Math.floor(random() * n);
  const families = ["1f1b", "interleaved", "dualpipev", "zb-h1", "gis-h"];
  const list = () => Array.from({ length: 1 + below(6) }, () => (random() < 0.5 ? 1 : cost()));
  const maybe = () => (random() < 0.3 ? cost() : null);
  const one = () => (random() < 0.2 ? list() : random() < 0.5 ? 1 : cost());
  const order = random() < 0.2 ? `v${Array.from({ length: below(600) }, () => "Ab0-_z"[below(6)]).join("")}` : null;
  const v = 1 + below(8);
  /** A word for all chunks, or one for each: of v, or of too many or too few. */
  const modes = (words: string[]) => {
    const word = () => words[below(words.length)];
    return random() < 0.5 ? word() : Array.from({ length: random() < 0.7 ? v : 1 + below(8) }, word);
  };
  return inWords({
    family: order ? "imported" : families[below(families.length)],
    order,
    p: 1 + below(64),
    m: 1 + below(1024),
    v,
    group: random() < 0.3 ? 1 + below(64) : null,
    memory: random() < 0.3 ? cost() + 0.01 : null,
    w_share: random() < 0.5 ? 1 : random(),
    lifo: random() < 0.5,
    forward_only: random() < 0.5,
    frozen: random() < 0.2 ? Array.from({ length: 1 + below(5) }, (_, k) => 2 * k + below(2)) : null,
    recompute: modes(["none", "selective", "full"]),
    recompute_at: random() < 0.5 ? "ahead" : "backward",
    spared: random() < 0.3 ? below(9) : 0,
    layers: random() < 0.3 ? Array.from({ length: 1 + below(9) }, () => below(3)) : null,
    sizes: random() < 0.2 ? (random() < 0.5 ? `lognormal:0.${1 + below(9)}:${below(99)}` : [...list(), 1.25]) : null,
    fixed: random() < 0.2 ? random() : 0,
    injection: random() < 0.2 ? "mountain" : random() < 0.2 ? [2, 0, 1] : "given",
    replicas: random() < 0.2 ? 2 : 1,
    deal: random() < 0.2 ? "longest" : "given",
    replica: random() < 0.2 ? 1 : 0,
    vocabulary: ["plain", "redistribute", "interlaced"][below(3)],
    offload: random() < 0.3 ? "selective" : modes(["none", "full"]),
    shared_link: random() < 0.5,
    streams: ["none", "rank", "direction", "edge"][below(4)],
    receives: ["torch", "deferred", "placed"][below(3)],
    weights: maybe(),
    effort: random() < 0.3 ? 1 + below(1e6) : null,
    seed: random() < 0.5 ? 1 : below(99),
    costs: {
      F: one(),
      I: one(),
      W: one(),
      comm: random() < 0.5 ? 0 : cost(),
      FB: maybe(),
      S: maybe(),
      T: maybe(),
      O: maybe(),
      R: maybe(),
      wire: random() < 0.5 ? 0 : cost(),
    },
  });
}

test("any state comes back from its link exactly", () => {
  const random = seeded(11);
  const tiny = () => random() * 10 ** Math.floor(random() * 30 - 15);
  for (let round = 0; round < 600; round++) {
    const t0 = Number((random() * 100).toPrecision(7));
    const view =
      random() < 0.5
        ? VIEW
        : {
            ...VIEW,
            t0,
            t1: Number((t0 + 1 + random()).toPrecision(7)),
            at: t0,
            sel: "2F5",
            theme: "light" as const,
            tab: "compare",
            run: "r1",
            families: "-1f1b,zb-auto",
          };
    const before = {
      spec: randomSpec(random, tiny),
      others: Array.from({ length: Math.floor(random() * 4) }, () => randomSpec(random, tiny)),
      preset: random() < 0.5 ? null : randomPreset(random, tiny),
      view,
    };
    const link = format(before, DEFAULTS, NATURAL);
    const { state: after, problems } = read(link);
    assert.deepEqual(problems, [], link);
    assert.deepEqual(after, before, link);
  }
});

test("a zoom window is kept to seven digits, the playhead to ten, and writing it again changes nothing", () => {
  const link = format(state({}, null, { t0: 1 / 3, t1: 1000 / 3, at: 10 / 3 }), DEFAULTS, NATURAL);
  assert.equal(link, "?t0=0.3333333&t1=333.3333&at=3.333333333");
  assert.equal(format(read(link).state, DEFAULTS, NATURAL), link);
});

const FULL_VIEW: Partial<ViewState> = {
  t0: 10234.56,
  t1: 11234.56,
  at: 10600.25,
  sel: "127F1023@127",
  theme: "light",
  tab: "compare",
  run: "0f3a9c2e",
};
const uneven = [3.25, ...new Array(126).fill(1), 4.25];
const even = { ...UNIT, F: 18.52, I: 18.09, W: 9.337, comm: 0.601 };
const byStage = (first: number, each: number, last: number) => [first, ...new Array(14).fill(each), last];
const modelled = {
  ...UNIT,
  ...{ F: byStage(64.123, 71.234, 55.345), I: byStage(66.123, 72.234, 57.345), W: byStage(54.123, 61.234, 45.345) },
  comm: 0.3355,
};
const own = {
  hidden: 5120,
  attention_heads: 40,
  kv_heads: 10,
  ffn: 13824,
  vocabulary: 152064,
  flops: 4e14,
  memory: 6.4e10,
  intra_bandwidth: 2e11,
  inter_bandwidth: 2.5e10,
};
const LLAMA = { ...plainPreset("llama3-70b"), tp: 8, heads: true };
const large: [string, ...Parameters<typeof state>][] = [
  [
    "uneven stages and every view key",
    {
      family: "zb-auto",
      p: 128,
      m: 1024,
      memory: 12.25,
      w_share: 0.4324,
      costs: { ...even, F: uneven, I: uneven, W: uneven },
    },
    { family: "v-half", p: 64, m: 512, v: 2, w_share: 0.4324, costs: { ...even, F: uneven, I: uneven, W: uneven } },
    FULL_VIEW,
  ],
  [
    "all costs different and every view key",
    { family: "zb-auto", p: 128, m: 1024, memory: 12.25, w_share: 0.4324, costs: even },
    {
      family: "dualpipev",
      p: 64,
      m: 512,
      v: 2,
      w_share: 0.4324,
      costs: { ...UNIT, F: 11.25, I: 12.5, W: 3.125, comm: 0.55, FB: 46.12 },
    },
    FULL_VIEW,
  ],
  [
    "options and every view key",
    { family: "gis", p: 128, m: 1024, v: 4, offload: "selective", costs: { ...even, O: 22.125 } },
    { family: "1f1b", p: 64, m: 512, vocabulary: "parallel-1", layers: [3, ...new Array(62).fill(2), 1], costs: even },
    FULL_VIEW,
  ],
  [
    "costs that come from a model with its layers balanced",
    { family: "interleaved", p: 8, m: 64, v: 2, w_share: 0.4324, costs: modelled },
    { family: "zb-h1", p: 16, m: 64, v: 1, w_share: 0.4324, costs: modelled },
    { sel: "7F23", theme: "dark", tab: "costs" },
    { ...LLAMA, machine: "a100-80", layers: byStage(4, 5, 6) },
  ],
  [
    "a model and a machine of one's own with its layers balanced",
    { family: "interleaved", p: 16, m: 64, v: 2 },
    { family: "zb-h1", p: 32, m: 64, v: 1 },
    { sel: "7F23@7", tab: "costs" },
    { ...LLAMA, layers: [2, ...new Array(12).fill(3), 4, 3, 3, 2, 2, 1, ...new Array(11).fill(2), 3, 2], own },
  ],
];
for (const [name, ...shown] of large) {
  test(`a comparison with ${name} stays under 300 characters`, () => {
    const before = state(...shown);
    const link = format(before, DEFAULTS, NATURAL);
    assert.ok(link.length < 300, `${link.length}: ${link}`);
    assert.deepEqual(read(link).state, before);
  });
}

test(
  "the server's query names family, p, m and v always, lists as short as in a link, and other keys only where they " +
    "differ",
  () => {
    assert.equal(specQuery(DEFAULTS, DEFAULTS), "?family=1f1b&p=4&m=8&v=1");
    const spec = { ...DEFAULTS, lifo: true, costs: { ...DEFAULTS.costs, F: [1, 1, 1, 2], FB: 2.5 } };
    assert.equal(specQuery(spec, DEFAULTS), "?family=1f1b&p=4&m=8&v=1&lifo=true&F=3*1,2&FB=2.5");
  },
);

test("a request to the server has all keys, and a link encodes the same state in fewer", () => {
  const preset = { ...plainPreset("gpt3"), own: { attention_heads: 40, experts: null, hbm_bandwidth: 2e12 } };
  assert.deepEqual(presetEntries(preset, false), [
    ["model", "gpt3"],
    ["attention_heads", "40"],
    ["experts", "none"],
    ["hbm_bandwidth", "2000000000000"],
  ]);
  assert.deepEqual(
    presetEntries(preset, true).map(([key]) => key),
    ["model", "attn", "experts", "hbm"],
  );
});

test("a long link has an imported order unpacked, beside the rest, which is packed", () => {
  const order = `l${"Ab0_".repeat(300)}`;
  const spec = { ...DEFAULTS, family: "imported", p: 8, m: 24, order };
  const short = format(state(spec), DEFAULTS, NATURAL);
  assert.equal(short, `?family=imported&p=8&m=24&order=${order}`);
  const costs = { ...DEFAULTS.costs, F: Array.from({ length: 90 }, (_, k) => k + 0.125) };
  const long = format(state({ ...spec, costs }, { ...spec, family: "zb-h1", order: null }), DEFAULTS, NATURAL);
  assert.match(long, /^\?z=[\w.-]+&order=lAb0_/);
  const { state: after, problems } = read(long);
  assert.deepEqual(problems, []);
  assert.deepEqual(after.spec.costs, costs);
  assert.deepEqual([after.spec.order, after.others[0].family, after.others[0].order], [order, "zb-h1", null]);
});

test("a family's other names are read as its own, and written so", () => {
  const { state: got, problems } = parse(
    "?family=Interleaved+1F1B&b.family=ZB-V&families=-ZB-V,GPipe",
    DEFAULTS,
    NATURAL,
  );
  assert.deepEqual(problems, []);
  assert.deepEqual([got.spec.family, got.spec.v, got.others[0].family], ["interleaved", 2, "v-zb"]);
  assert.equal(got.view.families, "-v-zb,gpipe");
  assert.ok(format(got, DEFAULTS, NATURAL).startsWith("?family=interleaved&b.family=v-zb"));
});
