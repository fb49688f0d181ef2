// Every form of link ever published is still read: the specs and the view that each shows. New forms are added; none
// goes. link.test.ts has those that are also written; tests/page/app/test_links.py opens one of each kind.
import assert from "node:assert/strict";
import { test } from "node:test";

import { parse } from "../../../static/js/core/state/link.ts";
import { DEFAULTS } from "../support/helpers.ts";

const ON_A_V = ["interleaved", "interleaved-bfs", "dualpipev", "gis", "v-zb", "v-min", "v-half", "v-auto"];
const NATURAL = { "1f1b": 1, ...Object.fromEntries(ON_A_V.map((family) => [family, 2])) };

type Shown = Record<string, unknown>;
/** Queries; what they say of the first schedule, the others, the view. */
const FORMS: [string, Shown, Shown[]?, Shown?][] = [
  ["?family=1f1b", { family: "1f1b", p: 4, m: 8, v: 1 }, [], { theme: "auto" }],
  ["?p=3", { family: "1f1b", p: 3 }],
  ["?family=gpipe&p=4&m=12", { family: "gpipe", m: 12 }],
  ["?family=interleaved&p=4&m=8&v=2", { family: "interleaved", v: 2 }],
  ["?family=interleaved&p=16&m=128&v=4&theme=light", { p: 16, v: 4 }, [], { theme: "light" }],
  ["?family=interleaved-bfs&v=4", { family: "interleaved-bfs", v: 4 }],
  ["?family=Interleaved+1F1B&b.family=ZB-V&fbclid=x", { family: "interleaved" }, [{ family: "v-zb", v: 2 }]],
  ["?family=pipedream&p=3&m=6&weights=0.5", { family: "pipedream", weights: 0.5 }],
  ["?family=dualpipe&m=8", { family: "dualpipe" }],
  ["?family=dualpipev&p=2&m=4&tab=run", { family: "dualpipev", v: 2 }, [], { tab: "run" }],
  ["?family=v-min&p=4&theme=light", { family: "v-min" }],
  ["?memory=2.5&w_share=0.4324&family=zb-auto", { memory: 2.5, w_share: 0.4324 }],
  ["?family=gpipe&lifo=true&p=4&m=8", { lifo: true }],
  ["?lifo=1&family=gpipe&p=08&m=8.0&FB=&theme=auto", { lifo: true, p: 8 }, [], { theme: "auto" }],
  ["?F=1%2C1.5%2C2%2C3.5", { "costs.F": [1, 1.5, 2, 3.5] }],
  [
    "?p=64&F=1.5,62*1.25,2",
    {
      "costs.F": [1.5, ...new Array(62).fill(1.25), 2],
    },
  ],
  ["?F=20", { "costs.F": 20 }],
  ["?family=dualpipe&p=4&m=8&FB=2.5", { "costs.FB": 2.5 }],
  ["?family=zb-h1&b.family=1f1b&b.p=8", { family: "zb-h1", p: 4 }, [{ family: "1f1b", p: 8 }]],
  ["?family=gpipe&m=8&memory=4&b.family=1f1b", { memory: 4 }, [{ family: "1f1b", memory: 4 }]],
  [
    "?family=zb-h1&p=6&m=12&F=1.5&comm=0.25&b.family=1f1b&t0=5&t1=20&at=11&sel=2I3&theme=dark&tab=compare",
    { "costs.F": 1.5, "costs.comm": 0.25 },
    [{ family: "1f1b", "costs.F": 1.5 }],
    { t0: 5, t1: 20, at: 11, sel: "2I3", theme: "dark", tab: "compare" },
  ],
  ["?sel=2F5@a&theme=dark", {}, [], { sel: "2F5@a" }],
  ["?family=dualpipe&m=20&p=8&sel=(0F7;7B3)OVERLAP_F_B", {}, [], { sel: "(0F7;7B3)OVERLAP_F_B" }],
  ["?family=zb-auto&p=4&m=9&F=18.5&I=18.1&W=9.3&b.memory=2.5", { memory: null }, [{ memory: 2.5 }]],
  ["?family=v-auto&p=4&m=8&memory=2.5&effort=40&seed=3", { effort: 40, seed: 3 }],
  ["?family=v-half&p=8&tab=block", { family: "v-half" }, [], { tab: "block" }],
  ["?p=8&m=16&memory=5&mem=1&theme=light", { memory: 5 }, [], { mem: "1" }],
  ["?vocabulary=parallel-1&S=0.25&T=0.5&theme=light", { vocabulary: "parallel-1", "costs.S": 0.25 }],
  ["?recompute=full&layers=2,3,3,2", { recompute: "full", layers: [2, 3, 3, 2] }],
  ["?family=gis&v=4&m=16&offload=full&b.offload=none", { offload: "full" }, [{ offload: "none" }]],
  ["?family=interleaved&v=2&p=2&m=4&offload=full&O=3&shared_link=true", { shared_link: true, "costs.O": 3 }],
  ["?m.model=zb-1.5b&tab=costs", { model: true }, [], { tab: "costs" }],
  ["?p=8&m.model=mixtral-8x7b&m.machine=a100", { model: true }],
  [
    "?m.model=gemma2-27b&m.heads=1&p=8&m=8&b.family=gpipe&m.layers=6,6,6,6,6,6,6,4",
    { model: true },
    [{ family: "gpipe" }],
  ],
  [
    "?p=2&F=20,18&m.model=llama3-70b&m.machine=h100&m.tp=8&m.efficiency=0.45&m.heads=1" +
      "&m.sequence=8192&m.micro_batch=2&m.layers=2*39&tab=costs",
    { "costs.F": [20, 18] },
  ],
  [
    "?p=8&m.model=llama3-70b&m.layers=48&m.hidden=5120&m.attn=40&m.kv=none" +
      "&m.experts=8&m.flash=0&m.flops=4e14&m.inter_s=1.5e-6&m.node=4",
    { model: true },
  ],
  ["?area=12-30@0-3&marks=3,10.5&pin=0,2", {}, [], { area: "12-30@0-3", marks: "3,10.5", pin: "0,2" }],
  ["?crit=1&micro=3&lane=comm&story=ranks", {}, [], { crit: "1", micro: 3, lane: "comm", story: "ranks" }],
  ["?z=.nvwxr8AA", { family: "zb-h1", p: 8, m: 32 }],
  ["?z=.nvwxr8AA&theme=dark&m=16", { family: "zb-h1", m: 16 }, [], { theme: "dark" }],
];

/** Check some fields; "costs.F" is one of the costs. */
function assertShown(expected: Shown, shown: any) {
  for (const [key, value] of Object.entries(expected)) {
    const actual = key.startsWith("costs.") ? shown.costs[key.slice("costs.".length)] : shown[key];
    assert.deepEqual(actual, value, key);
  }
}

for (const [query, { model = false, ...spec }, others = [], view = {}] of FORMS)
  test(`${query} shows what it always has`, () => {
    const { state, problems } = parse(query, DEFAULTS, NATURAL);
    assert.deepEqual(problems, []);
    assert.equal(state.preset !== null, model || query.includes("m.model"));
    assertShown(spec, state.spec);
    assert.equal(state.others.length, others.length);
    others.forEach((other, at) => assertShown(other, state.others[at]));
    assertShown(view, state.view);
  });
