// Parts of tables: the names of their columns, rows with a heading, a caption for screen readers.
import { h } from "./dom.ts";

type Cell = string | number | HTMLElement | null;

/** A column's name; what is no plain name is a cell of its own. */
const headCell = (name: string | HTMLElement | null) =>
  typeof name === "string" ? h("th", { scope: "col", text: name }) : name;

export const tableHead = (...names: (string | HTMLElement | null)[]) => h("thead", h("tr", ...names.map(headCell)));

/** The cells of a row: its heading, and the others; what is in none yet gets one. */
export const rowCells = (heading: string | HTMLElement, ...cells: Cell[]) => [
  heading instanceof HTMLTableCellElement ? heading : h("th", { scope: "row" }, heading),
  ...cells.map((cell) => (cell === null || cell instanceof HTMLTableCellElement ? cell : h("td", cell))),
];

export const tableRow = (heading: string | HTMLElement, ...cells: Cell[]) => h("tr", ...rowCells(heading, ...cells));

export const hiddenCaption = (text: string) => h("caption.visually-hidden", { text });
