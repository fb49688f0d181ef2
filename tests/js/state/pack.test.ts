// Tests of long links, packed and unpacked.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { deflateSync } from "../../../static/vendor/fflate.js";
import { pack, unpack } from "../../../static/js/core/state/pack.ts";
import { format, parse, type State } from "../../../static/js/core/state/link.ts";
import { LONGEST, shortened } from "../../../static/js/core/state/long_link.ts";
import { plainPreset } from "../../../static/js/core/state/link_preset.ts";
import { DEFAULTS, seeded } from "../support/helpers.ts";
import type { Spec } from "../../../static/js/core/schedule/types.ts";

/** Texts and their packed forms, as they were published. */
const published: [string, string][] = JSON.parse(
  readFileSync(new URL("../../../tests/golden/packed.json", import.meta.url), "utf8"),
);
const FAMILIES = ["zb-auto", "v-half", "interleaved", "dualpipev", "gis"];

test("every packed link ever published is read, and today's are no longer", () => {
  assert.ok(published.filter(([text]) => text.length >= LONGEST).length >= 6);
  for (const [text, packed] of published) {
    assert.equal(unpack(packed), text);
    const now = pack(text) ?? "";
    assert.ok(now.length <= packed.length, `${now.length} characters, ${packed.length} before: ${text}`);
  }
});

test("packing and unpacking any query gives the same text", () => {
  const random = seeded(3);
  for (let round = 0; round < 120; round++) {
    const text = Array.from({ length: Math.floor(random() * 200) }, () =>
      String.fromCharCode(32 + Math.floor(random() * 95)),
    ).join("");
    assert.equal(unpack(pack(text) as string), text);
  }
});

test("packing and unpacking any list of numbers gives the same list", () => {
  const random = seeded(5);
  const whole = (most: number) => Math.floor(random() * most);
  const usual = () => String(Number((90 * random()).toPrecision(1 + whole(7))));
  const writings = [
    usual,
    () => String(whole(10 ** whole(10))),
    () => "0.000" + whole(1e4),
    () => "00" + whole(99),
    () => `${whole(9)}.50`,
    () => "1e-7",
  ];
  for (let round = 0; round < 200; round++) {
    const rare = round % 3 === 0;
    const list = Array.from({ length: whole(300) }, () => writings[rare ? whole(writings.length) : 0]());
    const text = `F=${list.join(",")}&I=${usual()}&W=${list.slice(0, 9).join(",")}`;
    assert.equal(unpack(pack(text) as string), text);
  }
});

test("text that is not a query has no packed form, and text that is not packed does not unpack", () => {
  assert.equal(pack("ü"), null);
  assert.equal(pack("a\nb"), null);
  for (const bad of ["", "A", "AA", "AAA", "!!!!", "nothing at all", "nvYQc68s<script>"])
    assert.equal(unpack(bad), null, bad);
  for (const bad of [
    ".",
    "..",
    ".A",
    ".AA",
    ".AAA",
    ".AAAA",
    ".AAAA.",
    ".AA.AA",
    ".AAAAAA.!",
    `.AA${"A".repeat(3000)}`,
  ])
    assert.equal(unpack(bad), null, bad);
});

test("a packed link that unpacks to more than any query holds is refused", () => {
  const bomb = deflateSync(new Uint8Array(1e6).fill(97));
  assert.equal(unpack(`.AA${Buffer.from(bomb).toString("base64url")}`), null);
});

test("a packed link of which a part is missing or wrong is refused, not read as another view", () => {
  const links = ["family=zb-h1&p=8&m=32&F=1.5,62*1,1.5", "p=8&F=1.25,2.5,3.75&sel=2F5&t0=12.375"].map(pack);
  for (const packed of links as string[]) {
    let accepted = 0;
    for (let cut = 0; cut < packed.length; cut++) {
      if (unpack(packed.slice(0, cut)) !== null) accepted++;
      const other = packed[cut] === "A" ? "B" : "A";
      if (unpack(packed.slice(0, cut) + other + packed.slice(cut + 1)) !== null) accepted++;
    }
    assert.ok(accepted <= 2, `${accepted} of ${2 * packed.length}`); // the last characters have bits to spare
  }
});

test("a short query is unchanged; a long one is packed under z, and keys beside z take precedence", () => {
  assert.equal(shortened("?family=zb-h1&p=8"), "?family=zb-h1&p=8");
  const long = `?p=128&F=${Array.from({ length: 128 }, (_, k) => 1 + (k % 7) / 10).join(",")}&theme=dark`;
  assert.ok(long.length > LONGEST);
  const packed = shortened(long);
  assert.match(packed, /^\?z=\.[\w.-]+$/);
  assert.deepEqual(parse(packed, DEFAULTS).state, parse(long, DEFAULTS).state);
  const beside = parse(`${packed}&theme=light`, DEFAULTS);
  assert.deepEqual([beside.state.view.theme, beside.problems], ["light", []]);
});

test("a broken z is reported, and the rest of the link is used", () => {
  const { state, problems } = parse("?z=AAAAA&p=7", DEFAULTS);
  assert.equal(state.spec.p, 7);
  assert.deepEqual(
    problems.map(({ field }) => field),
    ["z"],
  );
});

const number = (random: () => number, n: number) => Number((1 + 90 * random()).toPrecision(n));

/** A spec with a value of its own in every field. stages: of lists; 0 for none. */
function ownSpec(random: () => number, stages: number, digits: number): Spec {
  const whole = (most: number) => 1 + Math.floor(random() * most);
  const cost = () => (stages ? Array.from({ length: stages }, () => number(random, digits)) : number(random, digits));
  return {
    family: FAMILIES[whole(5) - 1],
    p: stages || whole(128),
    m: whole(1024),
    v: whole(8),
    group: whole(64),
    memory: number(random, 4),
    w_share: Number(random().toPrecision(4)),
    lifo: true,
    forward_only: false,
    frozen: null,
    recompute: "selective",
    layers: null,
    sizes: null,
    fixed: Number(random().toPrecision(3)),
    injection: "mountain",
    replicas: 2,
    deal: "longest",
    replica: 1,
    vocabulary: "parallel-1",
    offload: "selective",
    shared_link: true,
    recompute_at: "ahead",
    spared: number(random, 9) | 0,
    streams: "rank",
    receives: "placed",
    weights: number(random, 3),
    effort: whole(1e6),
    seed: whole(99),
    order: null,
    costs: {
      F: cost(),
      I: cost(),
      W: cost(),
      comm: number(random, digits),
      FB: number(random, digits),
      S: number(random, digits),
      T: number(random, digits),
      O: number(random, digits),
      R: number(random, digits),
      wire: number(random, digits),
    },
  };
}

/** Every view key at once. */
function fullView(random: () => number): State["view"] {
  const plain = parse("", DEFAULTS).state.view;
  return {
    ...plain,
    t0: number(random, 7),
    t1: Number((100 + number(random, 6)).toPrecision(7)),
    at: number(random, 7),
    sel: "127F1023@b",
    theme: "dark",
    tab: "compare",
    run: "0f3a9c2e1b",
    families: "-gpipe,gis,v-auto",
    mem: "1",
    chart: "pareto:bubble",
  };
}

const views: [string, (random: () => number) => State][] = [
  [
    "every field and every view key at once, with five digits",
    (random) => ({ spec: ownSpec(random, 0, 5), others: [], preset: null, view: fullView(random) }),
  ],
  [
    "lists of 32 stages by hand, no two entries alike",
    (random) => {
      const { F, I, W } = ownSpec(random, 32, 3).costs;
      return {
        spec: { ...DEFAULTS, p: 32, costs: { ...DEFAULTS.costs, F, I, W } },
        others: [],
        preset: null,
        view: { ...fullView(random), families: null },
      };
    },
  ],
  [
    "four schedules and every view key",
    (random) => ({
      spec: { ...DEFAULTS, family: "zb-h1", p: 16, m: 64 },
      others: [8, 16, 32].map((p) => ({
        ...DEFAULTS,
        family: FAMILIES[Math.floor(random() * 5)],
        p,
        m: 96,
        v: 4,
        memory: number(random, 3),
      })),
      preset: null,
      view: fullView(random),
    }),
  ],
  [
    "a model and a machine of one's own in every number, and every view key",
    (random) => ({
      spec: { ...DEFAULTS, p: 16, m: 64 },
      others: [],
      view: fullView(random),
      preset: {
        ...plainPreset("llama3-70b"),
        machine: "a100-80",
        tp: 8,
        efficiency: 0.37,
        heads: true,
        sequence: 8192,
        micro_batch: 2,
        own: {
          layers: 81,
          hidden: 5120,
          attention_heads: 40,
          kv_heads: 10,
          ffn: 13824,
          vocabulary: 152064,
          experts: 8,
          gated: true,
          flash: false,
          flops: 4e14,
          memory: 6.4e10,
          hbm_bandwidth: 2e12,
          intra_bandwidth: 2e11,
          inter_bandwidth: 2.5e10,
          host_bandwidth: 5e10,
          intra_latency: 1.5e-6,
          inter_latency: 1e-5,
          per_node: 4,
        },
      },
    }),
  ],
];
for (const [name, make] of views) {
  test(`under ${LONGEST} characters and exact: ${name}`, () => {
    const random = seeded(17);
    for (let round = 0; round < 25; round++) {
      const state = make(random);
      const link = format(state, DEFAULTS);
      assert.ok(link.length < LONGEST, `${link.length}: ${link}`);
      const { state: back, problems } = parse(link, DEFAULTS);
      assert.deepEqual([back, problems], [state, []]);
    }
  });
}
