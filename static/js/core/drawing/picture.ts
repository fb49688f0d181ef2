// A schedule as a vector picture for print and slides: what the timeline shows, laid out anew for a width of its own,
// as SVG text. Rectangles stay rectangles and words stay words, so that it can be edited and searched.
//
// Ops too narrow to be seen at that width are drawn together with their neighbours, as what takes most of their time,
// so that a picture holds at most some rectangles a pixel however many ops there are.

import { OFFLOAD, RELOAD } from "../schedule/copies.ts";
import { copyRows, copyTimes } from "../timeline/copy_rows.ts";
import { HATCHES, TILE } from "./hatches.ts";
import { kindNames, shadeNames } from "./kind_names.ts";
import { kindsIn } from "../timeline/bins.ts";
import { flightBefore } from "../timeline/message_flow.ts";
import { opsInWindow, type Rows } from "../timeline/layout.ts";
import { t } from "../i18n/language.ts";
import {
  KIND_B,
  KIND_F,
  KIND_I,
  KIND_PAIR,
  KIND_S,
  KIND_T,
  KIND_W,
  chunkOf,
  globalMicro,
  kindOf,
  micros,
  pairChunks,
} from "../schedule/ops.ts";
import { formatTime } from "../i18n/numbers.ts";
import { tickStep, ticks } from "../timeline/scale.ts";
import type { Costs, Schedule, Times } from "../schedule/types.ts";

export type Colours = {
  fill: (kind: number, chunk: number, chunks: number) => string;
  ink: (kind: number, chunk: number, chunks: number) => string;
  edge: (kind: number, chunk: number, chunks: number) => string;
  copy: (kind: number) => string;
  message: string;
  surface: string;
  ink1: string;
  ink2: string;
  row: string;
  hatch: string;
  grid: string;
};
/** One schedule of the picture. */
type Part = { title: string; detail: string; schedule: Schedule; times: Times; end: number; costs: Costs };
export type Options = {
  width: number; // width and row: px of the picture and of a rank
  row: number;
  t0: number;
  t1: number;
  unit: string; // of time, "" or "ms"
  numbers: boolean;
  legend: boolean;
  title: boolean;
  background: boolean;
  link: string;
  hatch: boolean;
};

const GUTTER = 30;
const RIGHT = 8;
const AXIS = 22;
const HEAD = 22;
const GAP = 1;
const BETWEEN = 12;
const FOOT = 20;
const LEAST = 0.6; // px of a rectangle of its own
const DIGIT = 0.6; // of a font's size
export const FONT = "Helvetica, Arial, 'Liberation Sans', sans-serif";
const [IDLE, MESSAGE, COPY] = [-1, -2, -3]; // in the legend, beside the kinds; COPY - 1 is the other kind of copy
const SHADES = 100; // words alone

/** Short enough for a file, exact to a hundredth of a pixel. */
const n = (x: number) => String(Math.round(x * 100) / 100);

export const escapeXml = (text: string) => text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

/** more: attributes. */
const words = (x: number, y: number, size: number, fill: string, text: string, more = "") =>
  `<text x="${n(x)}" y="${n(y)}" font-size="${n(size)}" fill="${fill}"${more && ` ${more}`}>${escapeXml(text)}</text>`;

const rect = (x: number, y: number, w: number, h: number, fill: string) =>
  `<rect x="${n(x)}" y="${n(y)}" width="${n(w)}" height="${n(h)}" fill="${fill}"/>`;

/** The picture as an SVG document. */
export function picture(parts: Part[], options: Options, colours: Colours): string {
  const { width, row, title, legend } = options;
  const heading = title ? HEAD : 6;
  const entries = legend ? legendEntries(parts) : [];
  const lines = legend ? legendLines(entries, width) : [];
  let y = 4;
  const body = [];
  lines.forEach((line, at) => body.push(legendLine(line, y + at * 16, options.hatch, colours)));
  y += lines.length * 16 + (lines.length ? 6 : 0);
  const axisY = y;
  y += AXIS;
  const top = y;
  for (const part of parts) {
    if (title)
      body.push(
        words(GUTTER, y + 14, 12, colours.ink1, part.title, 'font-weight="700"') +
          words(width - RIGHT, y + 14, 11, colours.ink2, part.detail, 'text-anchor="end"'),
      );
    y += heading;
    body.push(group(part, y, options, colours));
    y += part.schedule.p * pitch(part.schedule, row) + BETWEEN;
  }
  const foot = y - BETWEEN;
  const height = Math.ceil(foot + (options.link ? FOOT : 6));
  const grid = axis(axisY, top, foot, options, colours);
  const source = options.link ? words(GUTTER, height - 7, 9, colours.ink2, options.link) : "";
  const backdrop = options.background ? rect(0, 0, width, height, colours.surface) : "";
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" ` +
    `viewBox="0 0 ${width} ${height}" font-family="${FONT}">` +
    `<title>${escapeXml(parts.map((part) => part.title).join(", "))}</title>` +
    `<defs><pattern id="idle" width="5" height="5" patternUnits="userSpaceOnUse">` +
    `<rect width="5" height="5" fill="${colours.row}"/>` +
    `<path d="M-1 6L6 -1M-1 1L1 -1M4 6L6 4" stroke="${colours.hatch}" stroke-width="0.8"/></pattern>` +
    `${options.hatch ? hatchDefs(colours) : ""}</defs>${backdrop}${grid}${body.join("")}${source}</svg>\n`
  );
}

/** What a rank takes: its row, its copy lane where it has one, a gap. */
const pitch = (schedule: Schedule, row: number) => row + copyTall(schedule, row) + GAP;

const copyTall = ({ copies }: Schedule, row: number) => (copies ? Math.max(2, Math.round(row / 3)) : 0);

/** Lines for each kind that has some, in the ink that can be read on it. */
const hatchDefs = (colours: Colours) =>
  Object.entries(HATCHES)
    .map(
      ([kind, path]) =>
        `<pattern id="kind${kind}" width="${TILE}" height="${TILE}" patternUnits="userSpaceOnUse">` +
        `<path d="${path}" fill="none" stroke="${colours.ink(Number(kind), 0, 1)}" stroke-opacity="0.42"/></pattern>`,
    )
    .join("");

function axis(y: number, top: number, foot: number, { width, t0, t1, unit }: Options, colours: Colours) {
  const room = width - GUTTER - RIGHT;
  const count = Math.max(2, Math.floor(room / 88));
  const step = tickStep(t1 - t0, count);
  const marks = ticks(t0, t1, count).map((time) => {
    const x = GUTTER + ((time - t0) / (t1 - t0)) * room;
    const anchor = x > width - RIGHT - 12 ? "end" : "middle";
    return (
      rect(x, top - 4, 0.6, foot - top + 4, colours.grid) +
      words(x, y + 12, 10, colours.ink2, formatTime(time, step), `text-anchor="${anchor}"`)
    );
  });
  return marks.join("") + (unit ? words(GUTTER - 8, y + 12, 10, colours.ink2, unit, 'text-anchor="end"') : "");
}

/** The ranks of one schedule. */
function group(part: Part, top: number, options: Options, colours: Colours) {
  const { width, row, t0, t1 } = options;
  const { schedule } = part;
  const k = (width - GUTTER - RIGHT) / (t1 - t0);
  const from = GUTTER + Math.max(0, -t0) * k;
  const to = GUTTER + (Math.min(t1, part.end) - t0) * k;
  const every = row >= 10 ? 1 : Math.ceil(11 / (row + GAP));
  const copies = copyRows(schedule);
  const copied = copyTimes(schedule, part.times);
  const out = [];
  for (let rank = 0; rank < schedule.p; rank++) {
    const y = top + rank * pitch(schedule, row);
    if (rank % every === 0)
      out.push(
        words(
          GUTTER - 6,
          y + row / 2 + 3.5,
          Math.min(11, Math.max(8, row)),
          colours.ink2,
          String(rank),
          'text-anchor="end"',
        ),
      );
    if (to > from) out.push(rect(from, y, to - from, row, "url(#idle)"));
    out.push(rankOf(part, rank, y, k, options, colours));
    if (copies)
      out.push(copiesOf(copies, copied, rank, { y: y + row, h: copyTall(schedule, row), k }, options, colours));
  }
  return out.join("");
}

/** The copies of a rank: out to host memory in the upper half of their lane, back in the lower. */
function copiesOf(
  copies: Rows,
  times: Times,
  rank: number,
  { y, h, k }: { y: number; h: number; k: number },
  { t0, t1, width }: Options,
  colours: Colours,
) {
  const [lo, hi] = opsInWindow(copies, times, rank, t0, t1);
  const out = [];
  for (let i = lo; i < hi; i++) {
    const x = GUTTER + Math.max(0, (times.start[i] - t0) * k);
    const end = Math.min(width - RIGHT, GUTTER + (times.end[i] - t0) * k);
    const kind = (copies.codes[i] / copies.chunks) | 0;
    out.push(rect(x, y + (kind === OFFLOAD ? 0 : h / 2), Math.max(LEAST, end - x - 0.4), h / 2, colours.copy(kind)));
  }
  return out.join("");
}

function rankOf(
  { schedule, times, costs }: Part,
  rank: number,
  y: number,
  k: number, // px of a unit of time
  options: Options,
  colours: Colours,
) {
  const { row, t0, t1, width } = options;
  const { chunks, codes } = schedule;
  const [lo, hi] = opsInWindow(schedule, times, rank, t0, t1);
  const out = [];
  /** Narrow ops that are gathered: px taken by each code. */
  const taken = new Map<number, number>();
  let [start, stop] = [0, 0];
  const flush = () => {
    if (!taken.size) return;
    const [code] = [...taken].reduce((most, each) => (each[1] > most[1] ? each : most));
    out.push(
      rect(
        start,
        y,
        Math.max(stop - start, 0.3),
        row,
        colours.fill(kindOf(code, chunks), chunkOf(code, chunks), chunks),
      ),
    );
    taken.clear();
  };
  const message = (i: number) => {
    const flight = costs.comm > 0 ? flightBefore(schedule, times, costs, i) : null;
    if (!flight) return;
    const x = GUTTER + Math.max(0, (flight.from - t0) * k);
    const wide = Math.min(width - RIGHT, GUTTER + (flight.to - t0) * k) - x;
    if (wide > LEAST / 2) out.push(rect(x, y + row / 3, wide, row / 3, colours.message));
  };
  for (let i = lo; i < hi; i++) {
    const x = GUTTER + Math.max(0, (times.start[i] - t0) * k);
    const end = Math.min(width - RIGHT, GUTTER + (times.end[i] - t0) * k);
    if (end - x >= LEAST * 2) {
      flush();
      message(i);
      out.push(box(schedule, rank, i, { x, y, w: end - x, h: row }, options, colours));
      continue;
    }
    if (taken.size && (x - stop > LEAST || stop - start > LEAST)) flush();
    if (!taken.size) start = x;
    stop = end;
    taken.set(codes[i], (taken.get(codes[i]) ?? 0) + end - x);
  }
  flush();
  if (hi < schedule.offsets[rank + 1]) message(hi); // for an op beyond the window
  return out.join("");
}

/** One op: its colour, the bars that tell its kind without colour, its number. */
function box(
  schedule: Schedule,
  rank: number,
  i: number,
  { x, y, w, h }: { x: number; y: number; w: number; h: number },
  options: Options,
  colours: Colours,
) {
  const { chunks, codes } = schedule;
  const kind = kindOf(codes[i], chunks);
  const chunk = chunkOf(codes[i], chunks);
  const wide = w > 3 ? w - 0.6 : w;
  const parts = [
    rect(
      x,
      y,
      wide,
      h,
      colours.fill(
        kind === KIND_PAIR ? KIND_B : kind,
        kind === KIND_PAIR ? pairChunks(codes[i], chunks)[1] : chunk,
        chunks,
      ),
    ),
  ];
  const bar = h >= 9 && wide > 3 ? Math.min(3, h / 7) : 0;
  const edge = colours.edge(kind, chunk, chunks);
  if (options.hatch && h >= 6 && wide >= 6 && HATCHES[kind]) parts.push(rect(x, y, wide, h, `url(#kind${kind})`));
  if (kind === KIND_PAIR)
    parts.push(
      `<path d="M${n(x)} ${n(y)}h${n(wide)}L${n(x)} ${n(y + h)}z" fill="${colours.fill(KIND_F, chunk, chunks)}"/>`,
    );
  if (bar && (kind === KIND_I || kind === KIND_B)) parts.push(rect(x, y + h - bar, wide, bar, edge));
  if (bar && (kind === KIND_W || kind === KIND_B)) parts.push(rect(x, y, wide, bar, edge));
  if (bar && kind === KIND_S)
    parts.push(`<path d="M${n(x + wide)} ${n(y)}v${n(2 * bar)}L${n(x + wide - 2 * bar)} ${n(y)}z" fill="${edge}"/>`);
  if (bar && kind === KIND_T)
    parts.push(
      `<path d="M${n(x + wide)} ${n(y + h)}v${n(-2 * bar)}L${n(x + wide - 2 * bar)} ${n(y + h)}z" fill="${edge}"/>`,
    );
  if (options.numbers) parts.push(number(schedule, rank, i, { x, y, w: wide, h }, colours));
  return parts.join("");
}

function number(
  schedule: Schedule,
  rank: number,
  i: number,
  { x, y, w, h }: { x: number; y: number; w: number; h: number },
  colours: Colours,
) {
  const { chunks, codes } = schedule;
  const kind = kindOf(codes[i], chunks);
  const chunk = chunkOf(codes[i], chunks);
  const local = micros(schedule);
  const size = Math.min(10, h * 0.62);
  const text = String(globalMicro(schedule, rank * chunks + chunk, local.first[i]));
  const wide = text.length * size * DIGIT;
  if (size < 5) return "";
  const ink = colours.ink(kind, chunk, chunks);
  const middle = `text-anchor="middle"`;
  if (kind !== KIND_PAIR)
    return wide + 1.5 > w ? "" : words(x + w / 2, y + h / 2 + size * 0.36, size, ink, text, middle);
  const back = String(
    globalMicro(schedule, rank * chunks + pairChunks(codes[i], chunks)[1], local.second ? local.second[i] : 0),
  );
  if (wide + back.length * size * DIGIT + 6 > w) return "";
  return (
    words(x + w * 0.27, y + h * 0.32 + size * 0.36, size * 0.9, ink, text, middle) +
    words(x + w * 0.73, y + h * 0.68 + size * 0.36, size * 0.9, ink, back, middle)
  );
}

/** The kinds that there are, as the page names them. */
function legendEntries(parts: Part[]): { kind: number; text: string }[] {
  const seen = new Set(parts.flatMap(({ schedule }) => kindsIn(schedule)));
  const messages = parts.some(({ costs }) => costs.comm > 0) ? [{ kind: MESSAGE, text: t("message in flight") }] : [];
  const copies = parts.some(({ schedule }) => schedule.copies)
    ? [
        { kind: COPY - OFFLOAD, text: t("offload to host memory") },
        { kind: COPY - RELOAD, text: t("reload") },
      ]
    : [];
  return [
    ...kindNames().flatMap((text, kind) => (seen.has(kind) ? [{ kind, text }] : [])),
    { kind: IDLE, text: t("bubble") },
    ...messages,
    ...copies,
    ...shadeNames(parts.map(({ schedule }) => schedule)).map((text) => ({ kind: SHADES, text })),
  ];
}

const wideOf = ({ kind, text }: { kind: number; text: string }) =>
  (kind === SHADES ? 2 : 24) + [...text].reduce((sum, c) => sum + (c > "\u2e80" ? 10 : 5.6), 0) + 12;

/** As many a line as fit. */
function legendLines(entries: { kind: number; text: string }[], width: number) {
  const lines: { kind: number; text: string }[][] = [];
  let room = 0;
  for (const entry of entries) {
    room -= wideOf(entry);
    if (room < 0 || !lines.length) {
      lines.push([]);
      room = width - GUTTER - RIGHT - wideOf(entry);
    }
    lines[lines.length - 1].push(entry);
  }
  return lines;
}

function legendLine(line: { kind: number; text: string }[], y: number, hatch: boolean, colours: Colours) {
  let x = GUTTER;
  return line
    .map((entry) => {
      const at = x;
      x += wideOf(entry);
      if (entry.kind === SHADES) return words(at, y + 9.5, 10, colours.ink2, entry.text);
      return swatch(entry.kind, at, y, hatch, colours) + words(at + 22, y + 9.5, 10, colours.ink2, entry.text);
    })
    .join("");
}

/** kind: of op, IDLE, MESSAGE, or COPY - kind of copy. */
function swatch(kind: number, x: number, y: number, hatch: boolean, colours: Colours) {
  if (kind === IDLE) return rect(x, y, 17, 11, "url(#idle)");
  if (kind === MESSAGE) return rect(x, y + 3.5, 17, 4, colours.message);
  if (kind <= COPY) return rect(x, y + 3, 17, 5, colours.copy(COPY - kind));
  const edge = colours.edge(kind, 0, 1);
  const parts = [rect(x, y, 17, 11, colours.fill(kind === KIND_PAIR ? KIND_B : kind, 0, 1))];
  if (hatch && HATCHES[kind]) parts.push(rect(x, y, 17, 11, `url(#kind${kind})`));
  if (kind === KIND_PAIR)
    parts.push(`<path d="M${n(x)} ${n(y)}h17L${n(x)} ${n(y + 11)}z" fill="${colours.fill(KIND_F, 0, 1)}"/>`);
  if (kind === KIND_I || kind === KIND_B) parts.push(rect(x, y + 9, 17, 2, edge));
  if (kind === KIND_W || kind === KIND_B) parts.push(rect(x, y, 17, 2, edge));
  return parts.join("");
}
