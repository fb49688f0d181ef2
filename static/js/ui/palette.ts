// Colours for the canvas, read once a theme from the CSS tokens: by kind, and by chunk through lightness alone.
import { context, h } from "./dom.ts";
import { CLASSES, SHADES, kindOfClass, shadeOfClass } from "../core/timeline/bins.ts";
import { COPY_LETTERS } from "../core/schedule/copies.ts";
import { KIND_B, KIND_F, KIND_PAIR } from "../core/schedule/ops.ts";
import type { Colours } from "../core/drawing/picture.ts";

type Rgb = [number, number, number];
/**
 * By paint class; top, bottom and rim are pixels: of the upper and the lower half of an op, and of its edge; ink and
 * inkUp are of text on these halves, and ahead those of text on ops that the playhead has not reached.
 */
export type Paints = {
  fill: string[];
  ink: string[];
  inkUp: string[];
  edge: string[];
  top: Uint32Array;
  bottom: Uint32Array;
  rim: Uint32Array;
  ahead: { ink: string[]; inkUp: string[] };
};

const TOKENS = [
  "k-f",
  "k-i",
  "k-w",
  "k-b",
  "k-s",
  "k-t",
  "k-c",
  "k-out",
  "k-in",
  "surface",
  "plot-row",
  "plot-idle",
  "plot-hatch",
  "plot-late",
  "plot-grid",
  "plot-ink",
  "plot-dim",
  "plot-held",
  "plot-cap",
  "mark-needs",
  "mark-frees",
  "mark-here",
  "mark-head",
  "mark-flag",
  "mark-find",
  "mark-path",
  "mark-way",
  "plot-veil",
  "ink",
  "ink-3",
  "accent",
  "line",
  "early-3",
  "early-2",
  "early-1",
  "on-time",
  "late-1",
  "late-2",
  "late-3",
];
const RESIDUALS = TOKENS.slice(-7); // from early to late
const KINDS = ["k-f", "k-i", "k-w", "k-b", "", "k-s", "k-t"]; // by kind; a pair has two
const COPIES = ["k-out", "k-in"]; // by kind of copy
const DARK_INK = "#000000";
const LIGHT_INK = "#ffffff";

let colours: Record<string, string> = {};
let late: { key: string; pattern: CanvasPattern | null } = { key: "", pattern: null };
/** By chunks a rank; those of copies under 0. */
const paints = new Map<number, Paints>();
/** A square of pixels that is repeated. */
export type Tile = { size: number; pixels: Uint32Array };
let hatch: { scale: number; pattern: CanvasPattern | null; tile: Tile } | null = null;

/** The tokens as they are, or as they would be on a light or a dark page. Returns by name. */
function tokens(
  scheme?: "light" | "dark",
  root: HTMLElement = document.body, // whose tokens they are
  names: string[] = TOKENS,
): Record<string, string> {
  const probes = names.map(() => h("span"));
  const holder = h("div", { hidden: true }, ...probes);
  holder.style.forcedColorAdjust = "none"; // else the system's own colours make all tokens one
  if (scheme) holder.style.colorScheme = scheme;
  names.forEach((token, n) => (probes[n].style.color = `var(--${token})`));
  root.append(holder);
  // All are written before the first is read: the browser computes the styles once, not once a token.
  const next = Object.fromEntries(names.map((token, n) => [token, getComputedStyle(probes[n]).color]));
  holder.remove();
  return next;
}

/** Read the tokens again after a change of theme. root: whose tokens they are. */
export function readPalette(root?: HTMLElement) {
  colours = tokens(undefined, root);
  paints.clear();
  hatch = null;
}

/** Colours of the page that the palette has not, as they are now. names: of tokens, without dashes. */
export const coloursNow = (names: string[]) => tokens(undefined, document.body, names);

/** token: without its dashes. */
export const colour = (token: string) => colours[token];

/** css: "rgb(1, 2, 3)". */
function parse(css: string): Rgb {
  const [r, g, b] = (css.match(/[\d.]+/g) ?? []).map(Number);
  return [r, g, b];
}

const mix = (a: Rgb, b: Rgb, t: number): Rgb => [
  a[0] + (b[0] - a[0]) * t,
  a[1] + (b[1] - a[1]) * t,
  a[2] + (b[2] - a[2]) * t,
];

/** A colour under the veil over ops ahead of the playhead. */
function dimmed(c: Rgb): Rgb {
  const [r, g, b, alpha] = (colours["plot-dim"].match(/[\d.]+/g) ?? []).map(Number);
  return mix(c, [r, g, b], alpha ?? 1);
}

const css = (c: Rgb) => `rgb(${Math.round(c[0])}, ${Math.round(c[1])}, ${Math.round(c[2])})`;

/** The little-endian pixel of ImageData. */
const pixel = (c: Rgb) => ((255 << 24) | (Math.round(c[2]) << 16) | (Math.round(c[1]) << 8) | Math.round(c[0])) >>> 0;

/** Relative luminance, WCAG. */
function luminance(c: Rgb) {
  const [r, g, b] = c.map((x) => (x / 255 <= 0.04045 ? x / 255 / 12.92 : ((x / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** Light text where it reaches a contrast of 4.5, else dark text, which then does. */
const inkOn = (c: Rgb) => (1.05 / (luminance(c) + 0.05) >= 4.5 ? LIGHT_INK : DARK_INK);

/** from: tokens. */
function tint(kind: number, shade: number, chunks: number, from: Record<string, string> = colours): Rgb {
  return mix(parse(from[KINDS[kind]]), [255, 255, 255], (0.55 * shade) / Math.min(chunks, SHADES));
}

/** The colours of a picture that leaves the page. */
export function pictureColours(scheme?: "light" | "dark"): Colours {
  const from = tokens(scheme);
  const of = (kind: number, chunk: number, chunks: number) =>
    tint(kind === KIND_PAIR ? KIND_B : kind, chunk % SHADES, chunks, from);
  return {
    fill: (...op) => css(of(...op)),
    ink: (...op) => inkOn(of(...op)),
    edge: (...op) => css(mix(of(...op), [0, 0, 0], 0.34)),
    copy: (kind) => from[COPIES[kind]],
    message: from["k-c"],
    surface: from.surface,
    ink1: from.ink,
    ink2: from["plot-ink"],
    row: from["plot-idle"],
    hatch: from["plot-hatch"],
    grid: from["plot-grid"],
  };
}

/** Paints of class 0 only, which no op has. */
const noPaints = (): Paints => ({
  fill: [""],
  ink: [""],
  inkUp: [""],
  ahead: { ink: [""], inkUp: [""] },
  edge: [""],
  top: new Uint32Array(CLASSES),
  bottom: new Uint32Array(CLASSES),
  rim: new Uint32Array(CLASSES),
});

/** The paints of a schedule with this many chunks a rank. */
export function paintsFor(chunks: number): Paints {
  let found = paints.get(chunks);
  if (!found) {
    found = noPaints();
    for (let cls = 1; cls < CLASSES; cls++) {
      const kind = kindOfClass(cls);
      const shade = shadeOfClass(cls);
      const upper = tint(kind === KIND_PAIR ? KIND_F : kind, shade, chunks);
      const lower = kind === KIND_PAIR ? tint(KIND_B, chunks > 1 ? 1 - (shade % 2) : 0, chunks) : upper;
      found.fill.push(css(lower));
      found.ink.push(inkOn(lower));
      found.inkUp.push(inkOn(upper));
      found.ahead.ink.push(inkOn(dimmed(lower)));
      found.ahead.inkUp.push(inkOn(dimmed(upper)));
      found.edge.push(css(mix(lower, [0, 0, 0], 0.34)));
      found.rim[cls] = pixel(mix(lower, [0, 0, 0], 0.34));
      found.top[cls] = pixel(upper);
      found.bottom[cls] = pixel(lower);
    }
    paints.set(chunks, found);
  }
  return found;
}

/** The paints of copy lanes, by the classes of `copyRows`: one colour a direction, whatever the chunk. */
export function copyPaints(): Paints {
  let found = paints.get(0);
  if (!found) {
    found = noPaints();
    for (let cls = 1; cls <= COPY_LETTERS.length * SHADES; cls++) {
      const c = parse(colours[COPIES[kindOfClass(cls)]]);
      found.fill.push(css(c));
      found.ink.push(inkOn(c));
      found.edge.push(css(mix(c, [0, 0, 0], 0.34)));
      found.top[cls] = found.bottom[cls] = pixel(c);
      found.rim[cls] = pixel(mix(c, [0, 0, 0], 0.34));
    }
    paints.set(0, found);
  }
  return found;
}

/** Each ink of text on ops with the colour under it: for the test of contrast. */
export function groundsOf(chunks: number) {
  const { ink, inkUp, ahead, fill, top } = paintsFor(chunks);
  return fill.slice(1).flatMap((_, k) => {
    if (shadeOfClass(k + 1) >= Math.min(chunks, SHADES)) return []; // no op is of this class
    const [lower, upper] = [parse(fill[k + 1]), rgbOf(top[k + 1])];
    return [
      [ink[k + 1], css(lower)],
      [inkUp[k + 1], css(upper)],
      [ahead.ink[k + 1], css(dimmed(lower))],
      [ahead.inkUp[k + 1], css(dimmed(upper))],
    ];
  });
}

/** little: the little-endian pixel of ImageData. */
const rgbOf = (little: number): Rgb => [little & 255, (little >> 8) & 255, (little >> 16) & 255];

/** The colours of residuals, from the earliest to the latest, and those of text on them. */
export const residualPaints = () => ({
  fill: RESIDUALS.map(colour),
  ink: RESIDUALS.map((token) => inkOn(parse(colours[token]))),
});

/** A square of one colour, to draw a hatch on. size: px. */
function plainSquare(size: number, token: string) {
  const ctx = context(h("canvas", { width: size, height: size }));
  ctx.fillStyle = colours[token];
  ctx.fillRect(0, 0, size, size);
  return ctx;
}

/** The upright hatch of a late start. */
export function latePattern(dpr: number) {
  const key = `${dpr} ${colours["plot-late"]} ${colours["plot-row"]}`;
  if (late.pattern && late.key === key) return late.pattern;
  const size = Math.round(3 * dpr);
  const ctx = plainSquare(size, "plot-row");
  ctx.fillStyle = colours["plot-late"];
  ctx.fillRect(0, 0, Math.max(1, Math.round(1.5 * dpr)), size);
  late = { key, pattern: ctx.createPattern(ctx.canvas, "repeat") };
  return late.pattern;
}

function hatchOf(dpr: number) {
  if (hatch?.scale === dpr) return hatch;
  const size = Math.round(6 * dpr);
  const ctx = plainSquare(size, "plot-idle");
  ctx.strokeStyle = colours["plot-hatch"];
  ctx.lineWidth = Math.max(1, dpr * 0.8);
  ctx.beginPath();
  for (const shift of [-size, 0, size]) {
    ctx.moveTo(shift - 1, size + 1);
    ctx.lineTo(shift + size + 1, -1);
  }
  ctx.stroke();
  const pixels = new Uint32Array(ctx.getImageData(0, 0, size, size).data.buffer);
  hatch = { scale: dpr, pattern: ctx.createPattern(ctx.canvas, "repeat"), tile: { size, pixels } };
  return hatch;
}

/** The hatch of a bubble, which a projector shows. */
export const hatchPattern = (dpr: number) => hatchOf(dpr).pattern;

/** The same as pixels. */
export const hatchTile = (dpr: number): Tile => hatchOf(dpr).tile;

/** By colour. */
const plain = new Map<string, Tile>();

/** One colour as a tile. */
export function plainTile(token: string): Tile {
  const written = colours[token];
  let tile = plain.get(written);
  if (!tile) {
    tile = { size: 1, pixels: Uint32Array.of(pixel(parse(written))) };
    plain.set(written, tile);
  }
  return tile;
}
