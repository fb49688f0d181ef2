// Tests of the picture of a solved task's card.
import assert from "node:assert/strict";
import { test } from "node:test";

import { awardPicture, WIDTH } from "../../../static/js/core/drawing/award_picture.ts";
import type { Colours } from "../../../static/js/core/drawing/picture.ts";

const colours = { surface: "s", ink1: "a", ink2: "b", fill: (kind: number) => `fill${kind}` } as unknown as Colours;
const drawn = (claim: string) => awardPicture({ claim, facts: "18 & 3", stars: 2, most: 3 }, "<svg></svg>", colours);
const sizeOf = (svg: string) => Number(/font-size="(\d+)"/.exec(svg)?.[1]);

test("the picture of a card has its claim, its stars, its facts and the order's picture", () => {
  const svg = drawn("Built op by op: <1F1B>");
  for (const part of [">Built op by op: &#60;1F1B&#62;<", "★★☆", "18 &#38; 3", "<svg></svg>"])
    assert.ok(svg.includes(part));
});

test("a claim is as large as fits beside the stars, letters of Chinese being twice as wide", () => {
  assert.equal(sizeOf(drawn("proved optimal")), 48);
  assert.equal(sizeOf(drawn("x".repeat(42))), 34);
  const chinese = "已证明最优，在其自身的显存之内优于名为一前一后的调度";
  assert.equal(sizeOf(drawn(chinese)), 34);
  assert.ok(sizeOf(drawn(chinese)) * chinese.length < WIDTH - 200);
});
