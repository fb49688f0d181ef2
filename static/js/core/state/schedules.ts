// The schedules on the screen, one to four: the first is the state's spec, the rest stand in its others. Each has an
// id, which is also its prefix in a link, and a letter by which the page calls it.

import { withoutLane, type Named } from "./lane_ids.ts";
import type { Spec } from "../schedule/types.ts";

export type PlanId = "a" | "b" | "c" | "d";
export type Specs = { spec: Spec; others: Spec[] };

export const IDS: PlanId[] = ["a", "b", "c", "d"];

/** All of them, the first one first. */
export const specsOf = ({ spec, others }: Specs) => [spec, ...others];

export const specAt = ({ spec, others }: Specs, at: number): Spec | undefined => (at === 0 ? spec : others[at - 1]);

/** What a state must be set to so that one of its specs becomes another. */
export const putAt = ({ others }: Specs, at: number, spec: Spec): Partial<Specs> =>
  at === 0 ? { spec } : { others: others.map((each, k) => (k === at - 1 ? spec : each)) };

/** All specs made anew; the same list where nothing changed, since lists are compared by identity. */
export function mapSpecs({ spec, others }: Specs, make: (spec: Spec, at: number) => Spec): Specs {
  const first = make(spec, 0);
  const rest = others.map((each, k) => make(each, k + 1));
  return { spec: first, others: rest.every((each, k) => each === others[k]) ? others : rest };
}

/** Without one of them; the next one takes its place and its letter, and the view's references to lanes follow. */
export function dropAt<V extends Named>(
  { spec, others, view }: Specs & { view: V },
  at: number,
): Partial<Specs & { view: V }> {
  const [first, ...rest] = [spec, ...others].filter((_, k) => k !== at);
  return first ? { spec: first, others: rest, view: { ...view, ...withoutLane(view, IDS, IDS[at]) } } : {};
}

/** Returns "A". */
export const letter = (at: number): string => IDS[at].toUpperCase();
