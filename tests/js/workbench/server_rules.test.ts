// The page's rules against the server's (tests/support/page/workbench.py).
import assert from "node:assert/strict";
import { test } from "node:test";
import { candidates, textOf } from "../../../static/js/core/workbench/legality.ts";
import { positionOfRows } from "../../../static/js/core/workbench/op_texts.ts";
import { createBoard, isWhole } from "../../../static/js/core/workbench/position.ts";
import { recognise, references } from "../../../static/js/core/workbench/references.ts";
import { scoreOf } from "../../../static/js/core/workbench/score.ts";
import { fixture } from "../support/fixtures.ts";
import { DEFAULTS, UNIT } from "../support/helpers.ts";

const cases = fixture("workbench");

function positionOf({ placement, rows, costs, ...given }: any) {
  const spec = { ...DEFAULTS, ...given, family: "imported", costs: { ...UNIT, FB: null, R: null, ...costs } };
  const board = createBoard(spec, placement);
  return positionOfRows(board, rows);
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
