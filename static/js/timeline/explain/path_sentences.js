// Sentences about a lane: its critical path, the path of a micro-batch, and short forms of both.
import { timeNumber, timeText } from "../../data/costs/time_unit.js";
import { OFFLOAD, RELOAD } from "../../core/schedule/copies.js";
import { t } from "../../core/i18n/language.js";
import { shortText } from "../../core/explain/narrate.js";
import { LETTERS, KIND_PAIR, rankOf } from "../../core/schedule/ops.js";
import { formatPercent } from "../../core/i18n/numbers.js";

/** @import {Lane} from "../../data/lanes.js" */
/** @import {Path} from "../../core/explain/critical_path.js" */
/** @import {Journey} from "../../core/explain/micro_batch_path.js" */
/** @typedef {{name: string, length: number}} Piece  of a critical path */

/** What a path is made of, in the order of the kinds; only what there is. @param {Path} path @returns {Piece[]} */
function pieces({ work, copies, flight, gap }) {
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

/** @param {Piece[]} list @param {(piece: Piece) => string} say */
const joined = (list, say) => list.map(say).join(t(", "));

/** @param {Path} path */
export function pathSentence(path) {
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

/** Its largest pieces. @param {Path} path */
export function pathChip(path) {
  const all = pieces(path).sort((a, b) => b.length - a.length);
  const shown = joined(all.slice(0, MOST), ({ name, length }) =>
    t("{name} {part}", { name, part: formatPercent(length / path.length) }),
  );
  return all.length > MOST ? t("{parts} and more", { parts: shown }) : shown;
}

/** @param {Lane} lane @param {Journey} journey */
export function journeySentence(
  { schedule },
  { micro, rank, enters, forwardDone, backward, backwardDone, weightsDone, weights, longest },
) {
  const at = (/** @type {number} */ time) => (Number.isFinite(time) ? timeNumber(time) : t("not yet"));
  const head = weights.length
    ? t(
        "Micro-batch {micro} enters at {enters} on rank {rank}; forward done at {forward}, backward at {backward}, " +
          "weight gradients at {weights}.",
        {
          micro,
          enters: at(enters),
          rank,
          forward: at(forwardDone),
          backward: at(backwardDone),
          weights: at(weightsDone),
        },
      )
    : backward.length
      ? t("Micro-batch {micro} enters at {enters} on rank {rank}; forward done at {forward}, backward at {backward}.", {
          micro,
          enters: at(enters),
          rank,
          forward: at(forwardDone),
          backward: at(backwardDone),
        })
      : t("Micro-batch {micro} enters at {enters} on rank {rank}; done at {forward}.", {
          micro,
          enters: at(enters),
          rank,
          forward: at(forwardDone),
        });
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

/** @param {Journey} journey */
export const journeyChip = ({ micro, enters, weightsDone }) =>
  Number.isFinite(weightsDone)
    ? t("micro-batch {micro}: {from} to {to}", { micro, from: timeNumber(enters), to: timeNumber(weightsDone) })
    : t("micro-batch {micro}", { micro });
