// The component's own part of the Chinese catalogue, and its colours.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { TOKENS } from "../../../static/js/component/style.js";
import { CATALOGUE, written } from "../support/component_texts.mjs";

test("the component's Chinese is that of the whole catalogue", () => {
  assert.equal(readFileSync(CATALOGUE, "utf8"), written(), "run: node tests/js/support/component_texts.mjs");
});

test("the component's colours are those of the page", () => {
  const css = readFileSync(new URL("../../../static/css/tokens.css", import.meta.url), "utf8");
  for (const [name, value] of Object.entries(TOKENS)) assert.ok(css.includes(`--${name}: ${value};`), name);
});
