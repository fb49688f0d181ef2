// Numbers by stage as they are typed or pasted: one entry, a list, or columns from a spreadsheet. Knows no DOM.
import { t } from "../i18n/language.ts";
import { entriesOf } from "./link_fields.ts";

export type Column = { name: string; symbol: string; whole?: boolean };
export type Cell = { column: number; stage: number };
/** changed: which columns. */
type Placed = { columns: number[][]; changed: number[] } | { problem: string; at: Cell };

/** A number of 0 or more, NaN for any other text. */
export function readEntry(text: string, whole = false) {
  const value = /^\+?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text.trim()) ? Number(text) : NaN;
  return whole && !Number.isInteger(value) ? NaN : value;
}

/** Rows of cells: a line is a row, but one line alone is a list that goes down, with runs as in a link: 34*2. */
export function readBlock(text: string) {
  const lines = text.trim().split(/\r?\n/);
  const rows = lines.map((line) => line.trim().split(lines.length > 1 ? /[\t;,]\s*|\s+/ : /[\t;,\s]+/));
  return rows.length === 1 ? rows[0].flatMap((cell) => entriesOf(cell) ?? [cell]).map((cell) => [cell]) : rows;
}

/** The columns with a block of texts put over them from one cell on; or what is wrong, and where. */
export function placed(heads: Column[], columns: number[][], from: Cell, block: string[][]): Placed {
  const stages = columns[0].length;
  const next = columns.map((column) => [...column]);
  const wide = Math.max(...block.map((row) => row.length));
  if (from.stage + block.length > stages || from.column + wide > columns.length)
    return {
      problem: t("{rows} × {columns} numbers do not fit from stage {stage} on: there are {stages} stages", {
        rows: block.length,
        columns: wide,
        stage: from.stage,
        stages,
      }),
      at: from,
    };
  for (const [row, cells] of block.entries()) {
    for (const [k, text] of cells.entries()) {
      const at = { column: from.column + k, stage: from.stage + row };
      const head = heads[at.column];
      const value = readEntry(text, head.whole);
      if (Number.isNaN(value)) return { problem: wrong(head, at.stage, text), at };
      next[at.column][at.stage] = value;
    }
  }
  return { columns: next, changed: Array.from({ length: wide }, (_, k) => from.column + k) };
}

const wrong = ({ symbol, whole }: Column, stage: number, text: string) =>
  whole
    ? t("{symbol} of stage {stage} must be a whole number of 0 or more, not “{text}”", { symbol, stage, text })
    : t("{symbol} of stage {stage} must be a number of 0 or more, not “{text}”", { symbol, stage, text });

/** The same work in every stage; of whole numbers the larger first. */
export function allEqual(list: number[], whole: boolean) {
  const sum = list.reduce((all, x) => all + x, 0);
  if (!whole) return list.map(() => Number((sum / list.length).toPrecision(6)));
  const each = Math.floor(sum / list.length);
  return list.map((_, stage) => each + (stage < sum - each * list.length ? 1 : 0));
}
