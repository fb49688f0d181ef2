// Tests of the names of lanes in a link.
import assert from "node:assert/strict";
import { test } from "node:test";
import { withoutLane } from "../../../static/js/core/state/lane_ids.ts";
import { dropAt } from "../../../static/js/core/state/schedules.ts";

const IDS = ["a", "b", "c", "d"];
const view = (sel: string | null = null, area: string | null = null, pin: string | null = null) => ({ sel, area, pin });

test("view entries about a closed schedule are removed", () => {
  assert.deepEqual(withoutLane(view("2F5@b", "1-3@b.0-2", "b.1"), IDS, "b"), view());
  assert.deepEqual(withoutLane(view("2F5", "1-3@0-2", "1"), IDS, "a"), view());
});

test("view entries about the schedules below it stay with them, under their new letters", () => {
  assert.deepEqual(
    withoutLane(view("2F5@c", "1-3@c.0-2", "0,b.1,c.3,d.4"), IDS, "b"),
    view("2F5@b", "1-3@b.0-2", "0,b.3,c.4"),
  );
  assert.deepEqual(withoutLane(view("2F5@b", "1-3@b.0-c.2", "0,b.1"), IDS, "a"), view("2F5", "1-3@0-b.2", "1"));
});

test("an area that ended in the closed schedule is removed, one that spans it is kept", () => {
  assert.equal(withoutLane(view(null, "1-3@2-b.1"), IDS, "b").area, null);
  assert.equal(withoutLane(view(null, "1-3@2-c.1"), IDS, "b").area, "1-3@2-b.1");
});

test("measured lanes do not move when a schedule is closed, and move up among themselves", () => {
  const before = view("2F5@run2", "1-3@run2.0-2", "0,run2.1,run3.2");
  assert.deepEqual(withoutLane(before, IDS, "b"), before);
  assert.deepEqual(
    withoutLane(before, ["run", "run2", "run3"], "run"),
    view("2F5@run", "1-3@run.0-2", "0,run.1,run2.2"),
  );
});

test("closing a schedule removes its names from the view", () => {
  const [one, two, three] = ["gpipe", "1f1b", "zb-h1"].map((family) => ({ family }) as any);
  const state = { spec: one, others: [two, three], view: { ...view("2F5@c", null, "b.1"), theme: "dark" } };
  assert.deepEqual(dropAt(state, 1), { spec: one, others: [three], view: { ...view("2F5@b"), theme: "dark" } });
  assert.deepEqual(dropAt(state, 0), {
    spec: two,
    others: [three],
    view: { ...view("2F5@b", null, "1"), theme: "dark" },
  });
  assert.deepEqual(dropAt({ ...state, others: [] }, 0), {}, "the last one stays");
});
