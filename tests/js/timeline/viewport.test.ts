// Tests of the window of time: fit, clamp, zoom.
import assert from "node:assert/strict";
import { test } from "node:test";

import { clamp, fit, pan, zoomAt, zoomTo, type View } from "../../../static/js/core/timeline/viewport.ts";
import { seeded } from "../support/helpers.ts";

/** Random windows that lie within their whole. */
function views(seed: number, check: (view: View, total: number, random: () => number, where: string) => void) {
  const random = seeded(seed);
  for (let round = 0; round < 400; round++) {
    const total = 10 ** (random() * 6 - 1);
    const span = total * (0.001 + 0.998 * random());
    const t0 = (total - span) * random();
    check({ t0, t1: t0 + span }, total, random, `round ${round}`);
  }
}

const near = (a: number, b: number, total: number, where: string) =>
  assert.ok(Math.abs(a - b) <= 1e-9 * total, `${where}: ${a} is not ${b}`);

function same(a: View, b: View, total: number, where: string) {
  near(a.t0, b.t0, total, where);
  near(a.t1, b.t1, total, where);
}

test("a clamped window keeps its span, is within the whole, and clamping again changes nothing", () => {
  views(41, ({ t0, t1 }, total, random, where) => {
    const by = (random() * 4 - 2) * total;
    const view = clamp({ t0: t0 + by, t1: t1 + by }, total);
    near(view.t1 - view.t0, t1 - t0, total, where);
    assert.ok(view.t0 >= 0 && view.t1 <= total, where);
    same(clamp(view, total), view, total, where);
  });
});

test("a window that is already within is left where it is, and one wider than the whole becomes the whole", () => {
  views(42, (view, total, random, where) => {
    same(clamp(view, total), view, total, where);
    assert.deepEqual(clamp({ t0: view.t0, t1: view.t0 + total * (1 + random()) }, total), fit(total), where);
  });
  for (const bad of [NaN, 0, -1]) assert.deepEqual(clamp({ t0: 1, t1: 1 + bad }, 10), fit(10));
  assert.deepEqual(clamp({ t0: 90, t1: 110 }, 100), { t0: 80, t1: 100 });
});

test("a pan stops at both ends", () => {
  assert.deepEqual(pan({ t0: 10, t1: 20 }, -50, 100), { t0: 0, t1: 10 });
  assert.deepEqual(pan({ t0: 10, t1: 20 }, 500, 100), { t0: 90, t1: 100 });
});

test("zooming leaves the moment under the pointer where it is on the screen, unless the window meets an end", () => {
  views(43, (view, total, random, where) => {
    const part = random();
    const t = view.t0 + part * (view.t1 - view.t0);
    const next = zoomAt(view, t, 1 + 5 * random(), total, 0);
    near(next.t0 + part * (next.t1 - next.t0), t, total, where);
    const out = zoomAt(view, t, 0.2 + 0.8 * random(), total, 0);
    if (out.t0 > 0 && out.t1 < total) near(out.t0 + part * (out.t1 - out.t0), t, total, where);
    assert.ok(
      out.t0 <= view.t0 + 1e-9 * total && out.t1 >= view.t1 - 1e-9 * total,
      `${where}: what was in sight stays in sight`,
    );
  });
});

test("zooming in and out again at the same moment comes back", () => {
  views(44, (view, total, random, where) => {
    const t = view.t0 + random() * (view.t1 - view.t0);
    const factor = 1 + 30 * random();
    same(zoomAt(zoomAt(view, t, factor, total, 0), t, 1 / factor, total, 0), view, total, where);
  });
});

test("no zoom goes below the smallest span or beyond the whole", () => {
  views(45, (view, total, random, where) => {
    const least = total * 0.01 * random();
    const t = view.t0 + random() * (view.t1 - view.t0);
    const close = zoomAt(view, t, 1e9, total, least);
    near(close.t1 - close.t0, least, total, where);
    same(zoomAt(view, t, 1e-9, total, least), fit(total), total, where);
  });
});

test("a pan and the pan back cancel where no end is met, and no pan changes the span", () => {
  views(46, (view, total, random, where) => {
    const by = random() < 0.5 ? -view.t0 * random() : (total - view.t1) * random();
    same(pan(pan(view, by, total), -by, total), view, total, where);
    const far = pan(view, (random() * 6 - 3) * total, total);
    near(far.t1 - far.t0, view.t1 - view.t0, total, where);
    assert.ok(far.t0 >= 0 && far.t1 <= total, where);
  });
});

test("two pans are one pan by their sum where no end is met", () => {
  views(47, (view, total, random, where) => {
    const room = total - view.t1;
    const [a, b] = [0.5 * room * random(), 0.5 * room * random()];
    same(pan(pan(view, a, total), b, total), pan(view, a + b, total), total, where);
  });
});

test("a zoom to an interval shows all of it and little else, whichever end is named first", () => {
  views(48, ({ t0, t1 }, total, _random, where) => {
    const view = zoomTo(t1, t0, total);
    assert.deepEqual(view, zoomTo(t0, t1, total), where);
    assert.ok(view.t0 <= t0 && view.t1 >= t1 && view.t0 >= 0 && view.t1 <= total, where);
    assert.ok(view.t1 - view.t0 <= 1.05 * (t1 - t0), where);
  });
  assert.deepEqual(zoomTo(3, 3, 10), fit(10));
  assert.deepEqual(zoomTo(60, 10, 100), { t0: 9, t1: 61 });
});
