// A building block as SVG: a path for each colour, so that thousands of ops are a dozen nodes. Follows pointer and
// keys.
import { paintsFor } from "../../ui/palette.ts";
import { SHADES } from "../../core/timeline/bins.ts";
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
  type Answer,
  type BlockOp,
  type Geometry,
  type Hit,
} from "../../core/drawing/building_block.ts";
import { t } from "../../core/i18n/language.ts";
import { KIND_B, KIND_I, KIND_W } from "../../core/schedule/ops.ts";

const NS = "http://www.w3.org/2000/svg";
const LETTERS = "FIWB";
const MARK = 3; // px: the bar that tells a kind without its colour, as on the timeline
const LETTER_FROM = 12; // px of a slot from which a letter fits
const NUMBER_FROM = 24; // the same for the number of a copy
const LINE = 13; // px that a rank's number needs
const LEAST = 2; // px: the one micro-batch stays in sight where slots are narrower

function s(tag: string, attributes: Record<string, string | number | null>, ...children: (Node | string)[]) {
  const node = document.createElementNS(NS, tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== null) node.setAttribute(name, String(value));
  node.append(...children);
  return node;
}

const box = (x: number, y: number, w: number, h: number) =>
  `M${round(x)} ${round(y)}h${round(w)}v${round(h)}h${round(-w)}z`;

const round = (x: number) => Math.round(x * 100) / 100;

/** Ops so narrow that they would vanish keep their width. */
const inset = (w: number) => (w > 4 ? w - 1 : w);

/** The ops of some copies: fills and marks by colour, then letters. */
function paintOps(at: Geometry, answer: Answer, ops: BlockOp[][], copies: number[]) {
  const paints = paintsFor(answer.chunks);
  const marked = at.lane >= 12;
  const classes = new Map<number, { fill: string[]; marks: string[] }>();
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

const barHeight = ({ bar }: Geometry) => (bar > 2 ? bar - 1 : bar);

/** For each device and chunk a bar from the start of F to the end of W. */
function paintLives(at: Geometry, answer: Answer) {
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

/** The period as a bracket from micro-batch k's first op to the next one's. */
function paintAxis(at: Geometry, { block: { period }, p, chunks }: Answer) {
  const [a, b] = [xOf(at, 0), xOf(at, period)];
  const every = 2 ** Math.max(0, Math.ceil(Math.log2(LINE / at.step)));
  const bottom = at.top + p * at.step - chunks * at.bar;
  const line = (x: number) => `M${round(x)} 22V${bottom}`;
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

/** px: of a slot; tell: what is pointed at or stepped to. */
export function drawBlock(answer: Answer, px: number, title: string, tell: (text: string | null) => void) {
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

function mark(here: Element, at: Geometry, answer: Answer, found: Hit | null) {
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

function listen(
  svg: Element,
  here: Element,
  at: Geometry,
  answer: Answer,
  ops: BlockOp[][],
  tell: (text: string | null) => void,
) {
  /** Where the keys are: a click puts them there. */
  let current: { op: BlockOp; k: number } = { op: ops[0][0], k: 0 };

  function point(found: Hit | null) {
    mark(here, at, answer, found);
    tell(found && say(answer, found));
  }

  function under(event: Event) {
    const { clientX, clientY } = event as PointerEvent;
    const { left, top } = svg.getBoundingClientRect();
    const found = hit(at, answer, ops, clientX - left, clientY - top);
    if (event.type === "pointerdown" && found && "op" in found) current = found;
    point(found);
  }
  svg.addEventListener("pointermove", under);
  svg.addEventListener("pointerdown", under);
  svg.addEventListener("pointerleave", (event) => {
    // A finger leaves as soon as it is lifted; what it named stays to be read.
    if ((event as PointerEvent).pointerType !== "touch") point(svg === document.activeElement ? current : null);
  });
  svg.addEventListener("focus", () => {
    if (svg.matches(":focus-visible")) point(current);
  });
  svg.addEventListener("blur", () => point(null));
  svg.addEventListener("keydown", (event) => {
    const { key } = event as KeyboardEvent;
    const ways: Record<string, [number, number]> = {
      ArrowLeft: [-1, 0],
      ArrowRight: [1, 0],
      ArrowUp: [0, -1],
      ArrowDown: [0, 1],
    };
    if (!Object.hasOwn(ways, key)) return;
    event.preventDefault();
    const op = beside(ops, current.op, ...ways[key]);
    // a copy may end outside the window
    current = { op, k: spanOf(at, op, current.k * answer.block.period) ? current.k : 0 };
    point(current);
    here.scrollIntoView({ block: "nearest", inline: "nearest" });
  });
}
