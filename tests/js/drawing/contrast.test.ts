// Text on ops has a contrast of at least 4.5 (WCAG), in both themes, behind and ahead of the playhead; bubbles can be
// seen on a projector.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { groundsOf, readPalette } from "../../../static/js/ui/palette.ts";

const css = (name: string) => readFileSync(new URL(`../../../static/css/${name}`, import.meta.url), "utf8");

/** Each token's value in a theme, as a browser computes it. 0: light. */
function valuesOf(sheet: string, theme: number) {
  const found = new Map();
  for (const [, name, ...pair] of sheet.matchAll(
    /--([\w-]+):\s*light-dark\(([^()]+(?:\([^)]*\))?),\s*([^()]+(?:\([^)]*\))?)\)/g,
  ))
    found.set(name, rgb(pair[theme]));
  return found;
}

/** value: "#rrggbb" or "rgb(1 2 3 / 50%)". */
function rgb(value: string) {
  if (!value.startsWith("#")) return value.replace(/(\d+)%/, (_, share) => String(share / 100));
  return `rgb(${[1, 3, 5].map((at) => parseInt(value.slice(at, at + 2), 16)).join(", ")})`;
}

class FakeNode {
  style = { color: "" };
  setAttribute() {}
  append() {}
  remove() {}
}

function luminance(colour: string) {
  const parts = colour.startsWith("#")
    ? [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16))
    : (colour.match(/[\d.]+/g) ?? []).map(Number);
  const [r, g, b] = parts.map((x) => (x / 255 <= 0.04045 ? x / 255 / 12.92 : ((x / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(one: string, other: string) {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

for (const sheets of [["tokens.css"], ["tokens.css", "app/appearance.css"]])
  for (const theme of [0, 1])
    test(`text on ops can be read in the ${theme ? "dark" : "light"} theme of ${sheets.join(" and ")}`, () => {
      const values = valuesOf(sheets.map(css).join("\n"), theme);
      Object.assign(globalThis, {
        Node: FakeNode,
        document: { createElement: () => new FakeNode(), body: new FakeNode() },
        getComputedStyle: (node: FakeNode) => ({
          color: values.get(node.style.color.slice(6, -1)) ?? "rgb(0, 0, 0)",
        }),
      });
      readPalette();
      assert.match(values.get("plot-dim") ?? "", /^rgb\(\d+ \d+ \d+ \/ 0\.\d+\)$/);
      for (const chunks of [1, 2, 3, 8])
        for (const [ink, ground] of groundsOf(chunks))
          assert.ok(contrast(ink, ground) >= 4.45, `${ink} on ${ground}: ${contrast(ink, ground).toFixed(2)}`);
    });

for (const sheets of [["tokens.css"], ["tokens.css", "app/appearance.css"]])
  for (const theme of [0, 1])
    test(`a bubble can be seen in the ${theme ? "dark" : "light"} theme of ${sheets.join(" and ")}`, () => {
      const values = valuesOf(sheets.map(css).join("\n"), theme);
      const against = (token: string) => contrast(values.get(token), values.get("surface"));
      assert.ok(against("plot-idle") >= 1.5, `its fill: ${against("plot-idle").toFixed(2)}`);
      assert.ok(against("plot-hatch") >= 3, `its hatch: ${against("plot-hatch").toFixed(2)}`);
    });
