// Tests of the SVG picture of the timeline.
import assert from "node:assert/strict";
import { test } from "node:test";

import { escapeXml, picture, type Options, type Colours } from "../../../static/js/core/drawing/picture.ts";
import { shadeNames } from "../../../static/js/core/drawing/kind_names.ts";
import { simulate } from "../../../static/js/core/schedule/simulate.ts";
import { UNIT, breadthFirst, offloaded, oneFOneB } from "../support/helpers.ts";
import type { Costs, Schedule } from "../../../static/js/core/schedule/types.ts";

/** Colours named after their use. */
const COLOURS: Colours = {
  fill: (kind, chunk) => `fill${kind}.${chunk}`,
  ink: () => "ink",
  edge: (kind) => `edge${kind}`,
  copy: (kind) => `copy${kind}`,
  message: "message",
  surface: "surface",
  ink1: "ink1",
  ink2: "ink2",
  row: "row",
  hatch: "hatch",
  grid: "grid",
};
const [GUTTER, RIGHT] = [30, 8];

function drawn(schedule: Schedule, options: Partial<Options> = {}, costs: Partial<Costs> = {}) {
  const times = simulate(schedule, { ...UNIT, ...costs });
  const part = {
    title: "1F1B <p & m>",
    detail: "bubble",
    schedule,
    times,
    end: times.makespan,
    costs: { ...UNIT, ...costs },
  };
  return {
    times,
    svg: picture(
      [part],
      {
        width: GUTTER + RIGHT + 1000,
        row: 20,
        t0: 0,
        t1: times.makespan,
        unit: "",
        numbers: true,
        legend: true,
        title: true,
        background: true,
        link: "",
        hatch: false,
        ...options,
      },
      COLOURS,
    ),
  };
}

const rects = (svg: string, fill: string) =>
  [
    ...svg.matchAll(
      new RegExp(`<rect x="([\\d.]+)" y="([\\d.]+)" width="([\\d.]+)" height="([\\d.]+)" fill="${fill}"`, "g"),
    ),
  ].map((found) => found.slice(1).map(Number));

test("every op of a small schedule is a rectangle where its times say, with its micro-batch as text", () => {
  const order = oneFOneB(3, 4);
  const { svg, times } = drawn(order, { legend: false });
  const k = 1000 / times.makespan;
  const expected = [...order.codes]
    .map((code, i) => [code, GUTTER + times.start[i] * k])
    .filter(([code]) => code === 0)
    .map(([, x]) => x);
  const found = rects(svg, "fill0.0");
  assert.equal(found.length, 12);
  assert.deepEqual(
    found.map(([x]) => x).sort((a, b) => a - b),
    expected.map((x) => Math.round(x * 100) / 100).sort((a, b) => a - b),
  );
  const rows = [...new Set(found.map(([, y]) => y))];
  assert.deepEqual(
    rows.map((y) => y - rows[0]),
    [0, 21, 42],
  );
  assert.equal(
    [...svg.matchAll(/fill="ink"[^>]*>(\d)</g)]
      .map(([, micro]) => micro)
      .sort()
      .join(""),
    "000000111111222222333333",
  );
});

test("a full backward has both bars, and idle time a hatch under the whole row", () => {
  const { svg, times } = drawn(oneFOneB(2, 2), { legend: false });
  assert.equal(rects(svg, "edge3").length, 2 * 4);
  assert.deepEqual(
    rects(svg, "url\\(#idle\\)").map(([x, , w]) => [x, w]),
    [
      [GUTTER, 1000],
      [GUTTER, 1000],
    ],
  );
  assert.ok(times.makespan > 0);
});

test("a message in flight is drawn before the op that waited for it", () => {
  const { svg, times } = drawn(oneFOneB(2, 2), { legend: false }, { comm: 0.5 });
  const k = 1000 / times.makespan;
  const [x, , w] = rects(svg, "message")[0];
  assert.ok(Math.abs(w - 0.5 * k) < 0.02, `${w}`);
  assert.ok([...times.start].some((start) => Math.abs(GUTTER + start * k - (x + w)) < 0.02));
});

test("a message leaves when the op that makes it ends, also where its receiver begins to recompute before", () => {
  const { svg, times } = drawn(oneFOneB(2, 2), { legend: false }, { comm: 2, lead: 1, again: 1, I: 2 });
  const k = 1000 / times.makespan;
  const expected = [times.end[0], times.end[5], times.end[7]].map((end) => GUTTER + Math.round(100 * end * k) / 100);
  const found = rects(svg, "message").map(([x]) => x);
  for (const left of expected)
    assert.ok(
      found.some((x) => Math.abs(x - left) < 0.02),
      `${left} in ${found.join()}`,
    );
});

test("a message in flight through the whole window is drawn though no op that it is for is in the window", () => {
  const { svg } = drawn(oneFOneB(2, 2), { t0: 2, t1: 4, legend: false }, { comm: 4 });
  assert.deepEqual(
    rects(svg, "message").map(([x, , w]) => [x, w]),
    [[GUTTER, 1000]],
  );
});

test("a wait for a copy is no message in flight", () => {
  const { svg } = drawn(offloaded(), { legend: false }, { O: 1, R: 9, comm: 0.5 });
  assert.deepEqual(rects(svg, "message"), []);
});

test("a picture of a hundred thousand ops holds no more rectangles than its pixels can show", () => {
  const { svg } = drawn(oneFOneB(16, 3200), { row: 4, numbers: false });
  const count = svg.split("<rect").length;
  assert.ok(count < 16 * 1700, String(count));
  assert.ok(count > 16 * 300, String(count));
});

test("a window shows its part only, and cuts what reaches out of it", () => {
  const { svg } = drawn(breadthFirst(2, 4, 2), { t0: 2.25, t1: 4.75, legend: false });
  for (const [x, , w] of [...rects(svg, "fill0.0"), ...rects(svg, "fill0.1")])
    assert.ok(x >= GUTTER && x + w <= GUTTER + 1000.01, `${x} ${w}`);
  assert.ok(rects(svg, "fill0.1").length > 0);
});

test("copies have their own lane, offloads above and reloads below", () => {
  const { svg } = drawn(offloaded(), { legend: false }, { O: 1 });
  const [out, back] = [rects(svg, "copy0"), rects(svg, "copy1")];
  assert.deepEqual([out.length, back.length], [2, 2]);
  assert.ok(back[0][1] > out[0][1]);
});

test("what lighter colours mean is said of chunks and of directions where both are shown", () => {
  const [chunked, both] = [1, 2].map((streams) => ({ chunks: 2, placement: { streams } }));
  assert.deepEqual(shadeNames([chunked, both]), ["lighter: later chunk", "lighter: the other direction"]);
  assert.deepEqual(shadeNames([both, { chunks: 1, placement: { streams: 1 } }]), ["lighter: the other direction"]);
});

test("hatching covers the kinds that have lines, and the legend explains it", () => {
  const { svg } = drawn(oneFOneB(2, 2), { hatch: true });
  assert.equal(rects(svg, "url\\(#kind3\\)").length, 4 + 1);
  assert.equal(rects(svg, "url\\(#kind0\\)").length, 0);
  assert.ok(svg.includes('<pattern id="kind3"'));
});

test("markup in text chosen by a reader is escaped", () => {
  const { svg } = drawn(oneFOneB(2, 2), { link: 'http://host/?a="><script>&b=1' });
  assert.ok(!svg.includes("<script"));
  assert.ok(!svg.includes("<p & m>"));
  assert.equal(escapeXml("<a href=\"'&'\">"), "&#60;a href=&#34;&#39;&#38;&#39;&#34;&#62;");
});
