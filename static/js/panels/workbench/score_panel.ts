// What the order is worth: its score beside the families' and the bound, and its idle time by cause.
import { t } from "../../core/i18n/language.ts";
import { formatNumber as num, formatPercent } from "../../core/i18n/numbers.ts";
import { makespanBound } from "../../core/workbench/bound.ts";
import { idleOf } from "../../core/workbench/delays.ts";
import { emptyPosition, isWhole, type Board, type Position } from "../../core/workbench/position.ts";
import { references } from "../../core/workbench/references.ts";
import { scoreOf, type Score } from "../../core/workbench/score.ts";
import { violations } from "../../core/workbench/violations.ts";
import { h, replace, setText } from "../../ui/dom.ts";
import { setNote } from "../../ui/notes.ts";
import { hiddenCaption, rowCells, tableHead } from "../../ui/table.ts";
import type { Session } from "../../core/workbench/session.ts";

type Parts = { session: Session; serverBound: (board: Board) => Promise<number> };

const DUST = 1e-9;
/** Orders that are another one in every figure. */
const ALIKE = ["pipedream", "gpipe-lifo"];

export function createScorePanel({ session, serverBound }: Parts) {
  const table = h("table#bench-score.bench-score");
  const bound = h("p#bench-bound.note");
  const idle = h("p#bench-idle.note");
  const node = h("section", { "aria-label": t("Score") }, h("h2", { text: t("Score") }), table, bound, idle);
  /** From the server, which knows the memory limit too. */
  let served: { board: Board | null; value: number } = { board: null, value: 0 };

  function sync(position: Position) {
    const { board } = position;
    const known = references(board);
    writeTable(position, known);
    const gaps = idleOf(position);
    setNote(
      idle,
      gaps.forced + gaps.chosen > 0
        ? t("Idle between ops: {forced} forced, {chosen} chosen, when another op of the row could have run.", {
            forced: num(gaps.forced),
            chosen: num(gaps.chosen),
          })
        : "",
    );
    if (served.board !== board) {
      served = { board, value: 0 };
      serverBound(board).then(
        (value) => {
          if (served.board !== board) return;
          served.value = value;
          writeBound(session.position);
        },
        () => {}, // the bound that is made here stays
      );
    }
  }

  function writeTable(position: Position, known: ReturnType<typeof references>) {
    const score = scoreOf(position);
    const rows = known.map(({ name, title, position: other }) => ({ name, title, score: scoreOf(other) }));
    const best = rows
      .filter(({ name }) => !ALIKE.includes(name))
      .sort((a, b) => a.score.makespan - b.score.makespan || a.score.peak - b.score.peak);
    replace(
      table,
      hiddenCaption(t("Score, beside the families' at these sizes and costs")),
      tableHead(t("Order"), ...heads().map(([text, title]) => h("th", { scope: "col", title, text }))),
      h(
        "tbody",
        scoreRow(t("Yours"), position.count ? score : null, isWhole(position), "yours"),
        ...best.map((each) => scoreRow(each.title, each.score, true, each.name)),
      ),
    );
    writeBound(position);
  }

  function writeBound(position: Position) {
    const least =
      session.aim?.least || // of the task's kinds of op
      Math.max(makespanBound(emptyPosition(position.board)), served.board === position.board ? served.value : 0);
    const { makespan } = scoreOf(position);
    const values = { bound: num(least), kinds: [...session.kinds].join(t(", ")) };
    const text = session.aim
      ? t("No order of {kinds} takes less than {bound}.", values)
      : t("No order takes less than {bound}.", values);
    const proved = isWhole(position) && !violations(position).length && makespan <= least * (1 + DUST);
    setText(bound, proved ? `${text}${t(" ")}${t("Yours is proved optimal.")}` : text);
    bound.classList.toggle("is-good", proved);
  }

  return { node, sync };
}

const heads = (): [string, string][] => [
  [t("time"), t("Time of a step")],
  [t("bubble"), t("Bubble, of the step")],
  [t("mem."), t("Peak memory of the fullest rank, in micro-batches")],
  [t("msgs"), t("Messages between ranks")],
  [t("rule"), t("Symbols of the shortest rule that writes all rows: phases such as 3 x (F B)")],
];

function scoreRow(title: string, score: Score | null, whole: boolean, name: string) {
  const values = score
    ? [
        short(score.makespan),
        formatPercent(score.bubble),
        short(score.peak),
        num(score.messages),
        num(score.simplicity),
      ]
    : ["–", "–", "–", "–", "–"];
  return h("tr", { class: whole ? "" : "is-part", "data-order": name }, ...rowCells(title, ...values));
}

/** Four digits, which fit the column. */
const short = (x: number) => num(Number(x.toPrecision(4)));
