// A building block as SVG: a path for each colour, so that thousands of ops are a dozen nodes. Follows pointer and
// keys.
import { paintsFor } from "../../ui/palette.js";
import { SHADES } from "../../core/timeline/bins.js";
import {
  barGap,
  beside,
  geometry,
  hit,
  livesOf,
  microName,
  opsOf,
  say,
  spanOf,
  xOf,
  yOf,
} from "../../core/drawing/building_block.js";
import { t } from "../../core/i18n/language.js";
import { KIND_B, KIND_I, KIND_W } from "../../core/schedule/ops.js";

/** @import {Answer, BlockOp, Geometry, Hit} from "../../core/drawing/building_block.js" */

const NS = "http://www.w3.org/2000/svg";
const LETTERS = "FIWB";
const MARK = 3; // px: the bar that tells a kind without its colour, as on the timeline
const LETTER_FROM = 12; // px of a slot from which a letter fits
const NUMBER_FROM = 24; // the same for the number of a copy
const LINE = 13; // px that a rank's number needs
const LEAST = 2; // px: the one micro-batch stays in sight where slots are narrower

/**
 * @param {string} tag
 * @param {Record<string, string | number | null>} attributes
 * @param {...(Node | string)} children
 */
function s(tag, attributes, ...children) {
  const node = document.createElementNS(NS, tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== null) node.setAttribute(name, String(value));
  node.append(...children);
  return node;
}

/** @param {number} x @param {number} y @param {number} w @param {number} h */
const box = (x, y, w, h) => `M${round(x)} ${round(y)}h${round(w)}v${round(h)}h${round(-w)}z`;

/** @param {number} x */
const round = (x) => Math.round(x * 100) / 100;

/** Ops so narrow that they would vanish keep their width. @param {number} w */
const inset = (w) => (w > 4 ? w - 1 : w);

/**
 * The ops of some copies: fills and marks by colour, then letters.
 * @param {Geometry} at
 * @param {Answer} answer
 * @param {BlockOp[][]} ops
 * @param {number[]} copies
 */
function paintOps(at, answer, ops, copies) {
  const paints = paintsFor(answer.chunks);
  const marked = at.lane >= 12;
  /** @type {Map<number, {fill: string[], marks: string[]}>} */
  const classes = new Map();
  const text = [];
  for (const op of ops.flat()) {
    const cls = 1 + op.kind * SHADES + (op.chunk % SHADES);
    const paths = classes.get(cls) ?? { fill: [], marks: [] };
    classes.set(cls, paths);
    const y = yOf(at, op.rank);
    for (const k of copies) {
      const span = spanOf(at, op, k * answer.block.period);
      if (!span) continue;
      const w = k === 0 ? Math.max(LEAST, inset(span.w)) : inset(span.w);
      paths.fill.push(box(span.x, y, w, at.lane));
      if (marked && (op.kind === KIND_I || op.kind === KIND_B))
        paths.marks.push(box(span.x, y + at.lane - MARK, w, MARK));
      if (marked && (op.kind === KIND_W || op.kind === KIND_B)) paths.marks.push(box(span.x, y, w, MARK));
      const label =
        k === 0 ? LETTERS[op.kind] : span.w >= NUMBER_FROM * op.length ? microName(k).slice(2).replace(" ", "") : "";
      if (marked && label && span.w >= LETTER_FROM)
        text.push(
          s(
            "text",
            { x: round(span.x + w / 2), y: y + at.lane / 2 + 4, fill: k === 0 ? paints.ink[cls] : null },
            label,
          ),
        );
    }
  }
  const paths = [...classes].flatMap(([cls, { fill, marks }]) => [
    s("path", { d: fill.join(""), fill: paints.fill[cls] }),
    s("path", { d: marks.join(""), fill: paints.edge[cls] }),
  ]);
  return [
    s("g", { class: copies.length > 1 ? "copies" : "one" }, ...paths),
    s("g", { class: copies.length > 1 ? "numbers" : null }, ...text),
  ];
}

/** @param {Geometry} at */
const barHeight = ({ bar }) => (bar > 2 ? bar - 1 : bar);

/** For each device and chunk a bar from the start of F to the end of W. @param {Geometry} at @param {Answer} answer */
function paintLives(at, answer) {
  return Array.from({ length: answer.chunks }, (_, chunk) => {
    const d = answer.block.slots.map((device, rank) =>
      box(
        xOf(at, device[chunk][0]),
        yOf(at, rank) + at.lane + barGap(at) + chunk * at.bar,
        livesOf(answer, rank)[chunk] * at.px - 1,
        barHeight(at),
      ),
    );
    return s("path", { class: `life-${chunk % 2}${at.bar > 1 ? "" : " is-thin"}`, d: d.join("") });
  });
}

/**
 * The period as a bracket from micro-batch k's first op to the next one's.
 * @param {Geometry} at
 * @param {Answer} answer
 */
function paintAxis(at, { block: { period }, p, chunks }) {
  const [a, b] = [xOf(at, 0), xOf(at, period)];
  const every = 2 ** Math.max(0, Math.ceil(Math.log2(LINE / at.step)));
  const bottom = at.top + p * at.step - chunks * at.bar;
  const line = (/** @type {number} */ x) => `M${round(x)} 22V${bottom}`;
  return s(
    "g",
    { class: "axis" },
    s("path", { class: "bracket", d: `M${round(a)} 29V23H${round(b)}V29` }),
    s("text", { class: "period", x: round(a), y: 16 }, t("period {slots} slots", { slots: period })),
    ...Array.from({ length: Math.ceil(p / every) }, (_, n) =>
      s("text", { class: "rank", x: at.left - 7, y: yOf(at, n * every) + at.lane / 2 + 4 }, String(n * every)),
    ),
    s("path", {
      class: "ground",
      d: Array.from({ length: p }, (_, rank) => box(at.left, yOf(at, rank), (at.to - at.from) * at.px, at.lane)).join(
        "",
      ),
    }),
    s("path", { class: "guide", d: line(a) + line(b) }),
  );
}

/**
 * @param {Answer} answer @param {number} px of a slot @param {string} title
 * @param {(text: string | null) => void} tell what is pointed at or stepped to
 */
export function drawBlock(answer, px, title, tell) {
  const at = geometry(answer, px);
  const ops = opsOf(answer);
  const others = Array.from({ length: 2 * at.copies + 1 }, (_, n) => n - at.copies).filter((k) => k !== 0);
  const here = s("rect", { class: "here", visibility: "hidden" });
  const svg = s(
    "svg",
    {
      class: "block-drawing",
      width: Math.ceil(at.width),
      height: at.height,
      tabindex: 0,
      role: "application",
      "aria-roledescription": t("building block"),
      "aria-label": t("{title}: one micro-batch's ops. Left and right step along a rank, up and down between ranks.", {
        title,
      }),
    },
    paintAxis(at, answer),
    ...paintOps(at, answer, ops, others),
    ...paintOps(at, answer, ops, [0]),
    ...paintLives(at, answer),
    here,
  );
  listen(svg, here, at, answer, ops, tell);
  return svg;
}

/** @param {Element} here @param {Geometry} at @param {Answer} answer @param {Hit | null} found */
function mark(here, at, answer, found) {
  here.setAttribute("visibility", found ? "visible" : "hidden");
  if (!found) return;
  const y = yOf(at, "op" in found ? found.op.rank : found.rank);
  const span =
    "op" in found
      ? spanOf(at, found.op, found.k * answer.block.period)
      : {
          x: xOf(at, answer.block.slots[found.rank][found.chunk][0]),
          w: livesOf(answer, found.rank)[found.chunk] * at.px,
        };
  const [top, height] = "op" in found ? [y, at.lane] : [y + at.lane + barGap(at) + found.chunk * at.bar, barHeight(at)];
  if (!span) return;
  for (const [name, value] of Object.entries({
    x: span.x - 1,
    y: top - 1,
    width: inset(span.w) + 2,
    height: height + 2,
  }))
    here.setAttribute(name, String(round(value)));
}

/**
 * @param {Element} svg
 * @param {Element} here
 * @param {Geometry} at
 * @param {Answer} answer
 * @param {BlockOp[][]} ops
 * @param {(text: string | null) => void} tell
 */
function listen(svg, here, at, answer, ops, tell) {
  /** @type {{op: BlockOp, k: number}} where the keys are: a click puts them there */
  let current = { op: ops[0][0], k: 0 };

  /** @param {Hit | null} found */
  function point(found) {
    mark(here, at, answer, found);
    tell(found && say(answer, found));
  }

  /** @param {Event} event */
  function under(event) {
    const { clientX, clientY } = /** @type {PointerEvent} */ (event);
    const { left, top } = svg.getBoundingClientRect();
    const found = hit(at, answer, ops, clientX - left, clientY - top);
    if (event.type === "pointerdown" && found && "op" in found) current = found;
    point(found);
  }
  svg.addEventListener("pointermove", under);
  svg.addEventListener("pointerdown", under);
  svg.addEventListener("pointerleave", (event) => {
    // A finger leaves as soon as it is lifted; what it named stays to be read.
    if (/** @type {PointerEvent} */ (event).pointerType !== "touch")
      point(svg === document.activeElement ? current : null);
  });
  svg.addEventListener("focus", () => {
    if (svg.matches(":focus-visible")) point(current);
  });
  svg.addEventListener("blur", () => point(null));
  svg.addEventListener("keydown", (event) => {
    const { key } = /** @type {KeyboardEvent} */ (event);
    /** @type {Record<string, [number, number]>} */
    const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (!Object.hasOwn(ways, key)) return;
    event.preventDefault();
    const op = beside(ops, current.op, ...ways[key]);
    // a copy may end outside the window
    current = { op, k: spanOf(at, op, current.k * answer.block.period) ? current.k : 0 };
    point(current);
    here.scrollIntoView({ block: "nearest", inline: "nearest" });
  });
}
