// The schedule as a table for screen readers: a row a rank, its ops in order. Made when someone comes to it, and bounded.
import { byId, h, replace } from "./dom.js";
import { opText } from "./pure/ops.js";
import { formatNumber } from "./pure/scale.js";

/** @import {Lane} from "./lanes.js" */

const MOST_RANKS = 64;
const MOST_OPS = 60;

/** @param {() => Lane[]} lanes @param {(id: string) => string} titleOf */
export function createTable(lanes, titleOf) {
  const home = byId("table");
  const holder = h("div", { class: "visually-hidden" });
  const make = h("button", { type: "button", class: "skip", onclick: fill }, "Read the schedule as a table");
  home.append(make, holder);
  let wanted = false;

  function fill() {
    wanted = true;
    replace(holder, ...lanes().map((lane) => tableOf(lane, titleOf(lane.id))));
  }
  return { /** The schedule changed. */ refresh: () => { if (wanted) fill(); } };
}

/** @param {Lane} lane @param {string} title */
function tableOf({ schedule, times }, title) {
  const rows = [];
  for (let rank = 0; rank < Math.min(schedule.p, MOST_RANKS); rank++) {
    rows.push(rowOf(schedule, times, schedule.offsets, rank, `Rank ${rank}`));
    if (schedule.copies) rows.push(rowOf(schedule, times, schedule.copies.offsets, rank, `Copies of rank ${rank}`));
  }
  if (schedule.p > MOST_RANKS) rows.push(h("tr", {}, h("th", { scope: "row", text: `and ${schedule.p - MOST_RANKS} more ranks` })));
  return h("table", { class: "sr-table" }, h("caption", { text: title }), h("tbody", {}, ...rows));
}

/** @param {Lane["schedule"]} schedule @param {Lane["times"]} times @param {Int32Array} offsets @param {number} rank @param {string} title */
function rowOf(schedule, times, offsets, rank, title) {
  const from = offsets[rank];
  const to = Math.min(offsets[rank + 1], from + MOST_OPS);
  const cells = [];
  for (let i = from; i < to; i++) {
    if (!Number.isFinite(times.end[i])) break;
    cells.push(h("td", { text: `${opText(schedule, i)} ${formatNumber(times.start[i])} to ${formatNumber(times.end[i])}` }));
  }
  if (to < offsets[rank + 1]) cells.push(h("td", { text: `and ${offsets[rank + 1] - to} more` }));
  return h("tr", {}, h("th", { scope: "row", text: title }), ...cells);
}
