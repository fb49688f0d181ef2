// The page's rules against the server's: tests/golden/workbench.json is written from Python.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { candidates, textOf } from "../../../static/js/core/workbench/legality.js";
import { createBoard, emptyPosition, isWhole, opOf, place } from "../../../static/js/core/workbench/position.js";
import { recognise, references } from "../../../static/js/core/workbench/references.js";
import { scoreOf } from "../../../static/js/core/workbench/score.js";
import { DEFAULTS, UNIT } from "../support/helpers.js";

/** @import {Board} from "../../../static/js/core/workbench/position.js" */

const { cases } = JSON.parse(readFileSync(new URL("../../golden/workbench.json", import.meta.url), "utf8"));

/** @param {Board} board @param {number} rank @param {string} text */
function opOfText(board, rank, text) {
  const { chunks, placement, n } = board;
  const pair = /^\((\d+)F(\d+);(\d+)B(\d+)\)OVERLAP_F_B$/.exec(text);
  /** @param {number} stage @param {number} micro @returns {[number, number]} chunk and local micro-batch */
  const home = (stage, micro) => {
    const stream = Math.floor(micro / n);
    for (let chunk = 0; chunk < chunks; chunk++) {
      const slot = rank * chunks + chunk;
      if (placement.stage[slot] === stage && placement.stream[slot] === stream) return [chunk, micro - stream * n];
    }
    throw new Error(`${text} is not of rank ${rank}`);
  };
  if (pair) {
    const [chunk, k] = home(Number(pair[1]), Number(pair[2]));
    const [back, other] = home(Number(pair[3]), Number(pair[4]));
    return opOf(4 * chunks + chunk * chunks + back, k, other);
  }
  const [, stage, letter, micro] = /** @type {RegExpExecArray} */ (/^(\d+)([FIWB])(\d+)$/.exec(text));
  const [chunk, k] = home(Number(stage), Number(micro));
  return opOf("FIWB".indexOf(letter) * chunks + chunk, k);
}

/** @param {any} given */
function positionOf({ placement, p, m, v, costs, w_share, memory, rows }) {
  const spec = { ...DEFAULTS, family: "imported", p, m, v, w_share, memory, costs: { ...UNIT, FB: null, ...costs } };
  const board = createBoard(spec, placement);
  let position = emptyPosition(board);
  for (const [rank, row] of rows.entries())
    for (const text of row.split(" ").filter(Boolean)) position = place(position, rank, opOfText(board, rank, text));
  return position;
}

test("every position has the server's legal ops and reasons, families and score", () => {
  assert.ok(cases.length > 150);
  for (const { name, position: given, legal, recognised, score } of cases) {
    const position = positionOf(given);
    const { board } = position;
    const found = position.rows.map((_, rank) =>
      candidates(position, rank)
        .filter(({ op }) => op >= 0)
        .map(({ op, reason }) => [textOf(board, rank, op), reason && [reason.code, reason.text]]),
    );
    assert.deepEqual(found, legal, name);
    assert.deepEqual(recognise(position, references(board)), recognised, name);
    if (score) {
      assert.ok(isWhole(position), name);
      const { bubble, ...rest } = scoreOf(position);
      assert.ok(Math.abs(bubble - score.bubble) < 1e-12, name);
      assert.deepEqual(
        rest,
        { makespan: score.makespan, peak: score.peak, messages: score.messages, simplicity: score.simplicity },
        name,
      );
    }
  }
});
