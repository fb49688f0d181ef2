// The catalogue of what the server writes, against the sentences in its source (tests/sentences.py collects them).
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { SERVERS } from "../../static/js/lang/zh.js";
import { NAMES } from "../../static/js/lang/zh_server_names.js";

const HAN = /[\u3001\u3002\u4e00-\u9fff\uff08-\uff1f]/; // with its punctuation
/** Holes that hold English grammar only, a plural. */
const GRAMMAR = new Set(["{1} ops of {2} rank{3} were found {3}"]);
/** @type {string[]} */
const SENTENCES = JSON.parse(readFileSync(new URL("../golden/sentences.json", import.meta.url), "utf8"));
const holes = (/** @type {string} */ text) => [...new Set(text.replaceAll("!}", "}").match(/\{\d+\}/g))].sort();

test("every sentence of the server has a Chinese one, if only a name as it is", () => {
  const lacking = SENTENCES.filter((text) => !Object.hasOwn(SERVERS, text));
  assert.deepEqual(lacking, []);
});

test("the Chinese ones have the same holes and have Chinese in them", () => {
  for (const [from, into] of Object.entries(SERVERS)) {
    const wanted = holes(from).filter((hole) => !GRAMMAR.has(`${from} ${hole}`));
    assert.deepEqual(holes(into).filter((hole) => !GRAMMAR.has(`${from} ${hole}`)), wanted, from);
    if (!Object.hasOwn(NAMES, from)) assert.match(into, HAN, from);
  }
});

test("no Chinese sentence is left of one that the server says no longer", () => {
  const said = new Set(SENTENCES);
  assert.deepEqual(Object.keys(SERVERS).filter((text) => !said.has(text)), []);
});

test("Chinese punctuation is full-width", () => {
  const wrong = Object.entries(SERVERS).filter(([, into]) => /[\u4e00-\u9fff][,;:!?]|[,;:!?][\u4e00-\u9fff]/.test(into));
  assert.deepEqual(wrong, []);
});
