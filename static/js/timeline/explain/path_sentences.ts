// Sentences about a lane: its critical path, the path of a micro-batch, and short forms of both.
import { timeNumber, timeText } from "../../data/costs/time_unit.ts";
import { OFFLOAD, RELOAD } from "../../core/schedule/copies.ts";
import { t } from "../../core/i18n/language.ts";
import { shortText } from "../../core/explain/narrate.ts";
import { LETTERS, KIND_PAIR, rankOf } from "../../core/schedule/ops.ts";
import { formatPercent } from "../../core/i18n/numbers.ts";
import type { Lane } from "../../data/lanes.ts";
import type { Path } from "../../core/explain/critical_path.ts";
import type { Journey } from "../../core/explain/micro_batch_path.ts";

/** Of a critical path. */
type Piece = { name: string; length: number };

/** What a path is made of, in the order of the kinds; only what there is. */
function pieces({ work, copies, flight, gap }: Path): Piece[] {
  const kinds = Array.from(work, (length, kind) => ({
    name: kind === KIND_PAIR ? t("overlapped F and B") : LETTERS[kind],
    length,
  }));
  return [
    ...kinds,
    { name: t("offload"), length: copies[OFFLOAD] },
    { name: t("reload"), length: copies[RELOAD] },
    { name: t("messages"), length: flight },
    { name: t("waiting for the same rank"), length: gap },
  ].filter(({ length }) => length > 0);
}

const joined = (list: Piece[], say: (piece: Piece) => string) => list.map(say).join(t(", "));

export function pathSentence(path: Path) {
  const parts = joined(pieces(path), ({ name, length }) =>
    t("{name} {part}", { name, part: `${timeNumber(length)} (${formatPercent(length / path.length)})` }),
  );
  return t("Critical path, length {length}: {parts}; {ops} ops in a chain, {hops} hops between ranks.", {
    length: timeText(path.length),
    parts,
    ops: path.steps.length,
    hops: path.hops,
  });
}

const MOST = 2; // pieces in a few words

/** Its largest pieces. */
export function pathChip(path: Path) {
  const all = pieces(path).sort((a, b) => b.length - a.length);
  const shown = joined(all.slice(0, MOST), ({ name, length }) =>
    t("{name} {part}", { name, part: formatPercent(length / path.length) }),
  );
  return all.length > MOST ? t("{parts} and more", { parts: shown }) : shown;
}

export function journeySentence(
  { schedule }: Lane,
  { micro, rank, enters, forwardDone, backward, backwardDone, weightsDone, weights, longest }: Journey,
) {
  const at = (time: number) => (Number.isFinite(time) ? timeNumber(time) : t("not yet"));
  const values = {
    ...{ micro, rank, enters: at(enters), forward: at(forwardDone) },
    ...{ backward: at(backwardDone), weights: at(weightsDone) },
  };
  const head = weights.length
    ? t(
        "Micro-batch {micro} enters at {enters} on rank {rank}; forward done at {forward}, backward at {backward}, " +
          "weight gradients at {weights}.",
        values,
      )
    : backward.length
      ? t(
          "Micro-batch {micro} enters at {enters} on rank {rank}; forward done at {forward}, backward at {backward}.",
          values,
        )
      : t("Micro-batch {micro} enters at {enters} on rank {rank}; done at {forward}.", values);
  if (!longest) return head + t(" ") + t("It never waits.");
  return (
    head +
    t(" ") +
    t("Longest wait: {wait} before {op} on rank {rank}, from {from} to {to}.", {
      wait: timeText(longest.to - longest.from),
      op: shortText(schedule, longest.i),
      rank: rankOf(schedule, longest.i),
      from: timeNumber(longest.from),
      to: timeNumber(longest.to),
    })
  );
}

export const journeyChip = ({ micro, enters, weightsDone }: Journey) =>
  Number.isFinite(weightsDone)
    ? t("micro-batch {micro}: {from} to {to}", { micro, from: timeNumber(enters), to: timeNumber(weightsDone) })
    : t("micro-batch {micro}", { micro });
