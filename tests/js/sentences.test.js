// The catalogue of what the server writes, against the sentences in its source (tests/sentences.py collects them).
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { SERVERS } from "../../static/js/lang/zh.js";
import { HAN, KEPT, GRAMMAR } from "./sentences.js";

/** @type {string[]} */
const SENTENCES = JSON.parse(readFileSync(new URL("../golden/sentences.json", import.meta.url), "utf8"));
const holes = (/** @type {string} */ text) => [...new Set(text.match(/\{\d+\}/g))].sort();

test("every sentence of the server has a Chinese one, but for names", () => {
  const lacking = SENTENCES.filter((text) => !KEPT.has(text) && !Object.hasOwn(SERVERS, text));
  assert.deepEqual(lacking, []);
});

test("the Chinese ones have the same holes and have Chinese in them", () => {
  for (const [from, into] of Object.entries(SERVERS)) {
    const wanted = holes(from).filter((hole) => !GRAMMAR.has(`${from} ${hole}`));
    assert.deepEqual(holes(into).filter((hole) => !GRAMMAR.has(`${from} ${hole}`)), wanted, from);
    assert.match(into, HAN, from);
  }
});

test("no Chinese sentence is left of one that the server says no longer", () => {
  const said = new Set(SENTENCES);
  assert.deepEqual(Object.keys(SERVERS).filter((text) => !said.has(text)), []);
  assert.deepEqual([...KEPT].filter((text) => !said.has(text)), []);
});

test("Chinese punctuation is full-width", () => {
  const wrong = Object.entries(SERVERS).filter(([, into]) => /[\u4e00-\u9fff][,;:!?]|[,;:!?][\u4e00-\u9fff]/.test(into));
  assert.deepEqual(wrong, []);
});
