// A building block as a drawing: one micro-batch's ops, its copies a period apart, and their positions.
import { t } from "../i18n/language.ts";
import { KIND_B, KIND_F, KIND_I, KIND_W } from "../schedule/ops.ts";
import { build } from "../schedule/placement.ts";
import type { Modes, PlacementKind, Spec } from "../schedule/types.ts";

/** slots: device, chunk, the slots of F, I, W. */
export type Answer = {
  family: string;
  p: number;
  chunks: number;
  placement: PlacementKind;
  backward: "full" | "split" | "both";
  block: { period: number; slots: number[][][]; lifespan: number[] };
  memory: number[];
  peaks: number[];
  peak: number;
  sentence: string;
  note: string;
};
export type BlockOp = { rank: number; chunk: number; stage: number; kind: number; slot: number; length: number };
export type Geometry = {
  from: number;
  to: number;
  px: number; // of a slot
  left: number;
  top: number;
  lane: number;
  bar: number;
  step: number;
  width: number;
  height: number;
  copies: number; // drawn on either side
};
/** An op of micro-batch k + k, or a lifespan. */
export type Hit = { op: BlockOp; k: number } | { rank: number; chunk: number };

/** Room for the ranks' numbers, for the period's bracket, and at the right end. */
export const MARGIN = { left: 30, top: 34, right: 6 };
const ROOMY = 16; // devices whose rows are high enough for a line of text beside each
const TALL = 420; // px for the rows of more devices, which get thinner
const THINNEST = 7;
const FINE = 3; // px of a slot below which only the nearest copies are drawn: more would blur
const NEAREST = 2;

/** Heights of a device's row: its ops, each chunk's bar, what is left below. */
export function rowSizes({ p, chunks }: Answer) {
  if (p <= ROOMY) return { lane: 18, bar: 4, gap: 8, step: 26 + 4 * chunks, roomy: true };
  const step = Math.max(THINNEST, Math.floor(TALL / p));
  const [bar, gap] = step < 12 ? [1, 1] : [2, 3];
  return { lane: step - gap - bar * chunks, bar, gap, step, roomy: false };
}

/** The ops of micro-batch k by rank, in order; a full backward is one op of two slots. */
export function opsOf({ p, chunks, placement, backward, block }: Answer): BlockOp[][] {
  const { stage } = build(placement, p, chunks);
  const full = backward === "full";
  return block.slots.map((device, rank) =>
    device
      .flatMap(([f, i, w], chunk) => {
        const own = { rank, chunk, stage: stage[rank * chunks + chunk] };
        return [
          { ...own, kind: KIND_F, slot: f, length: 1 },
          { ...own, kind: full ? KIND_B : KIND_I, slot: i, length: full ? 2 : 1 },
          ...(full ? [] : [{ ...own, kind: KIND_W, slot: w, length: 1 }]),
        ];
      })
      .sort((a, b) => a.slot - b.slot),
  );
}

/** From a period before the block to a period after it, in slots. */
export function windowOf({ block }: Answer) {
  const last = block.slots.reduce((most, device) => device.reduce((end, [, , w]) => Math.max(end, w + 1), most), 0);
  return { from: -block.period, to: last + block.period };
}

/**
 * How long the window is in units of one micro-batch's op on a whole device, which blocks of different chunks share.
 */
export function unitsOf(answer: Answer) {
  const { from, to } = windowOf(answer);
  return (to - from) / answer.chunks;
}

/** px: width of a slot. */
export function geometry(answer: Answer, px: number): Geometry {
  const { from, to } = windowOf(answer);
  const { left, top, right } = MARGIN;
  const { lane, bar, step } = rowSizes(answer);
  const copies = px < FINE ? NEAREST : Math.ceil((to - from) / answer.block.period);
  return {
    from,
    to,
    px,
    left,
    top,
    lane,
    bar,
    step,
    copies,
    width: left + (to - from) * px + right,
    height: top + answer.p * step,
  };
}

/** Between the ops and the first bar. */
export const barGap = ({ bar }: Geometry) => (bar > 1 ? bar / 2 : 0);

export const xOf = ({ left, from, px }: Geometry, slot: number) => left + (slot - from) * px;

export const yOf = ({ top, step }: Geometry, rank: number) => top + rank * step;

/** The part of an op's copy that is in the window, null for none. shift: in slots. */
export function spanOf(at: Geometry, { slot, length }: BlockOp, shift: number) {
  const from = Math.max(at.from, slot + shift);
  const to = Math.min(at.to, slot + shift + length);
  return to > from ? { x: xOf(at, from), w: (to - from) * at.px } : null;
}

/** What is at a place of the drawing. */
export function hit(at: Geometry, answer: Answer, ops: BlockOp[][], x: number, y: number): Hit | null {
  const rank = Math.floor((y - at.top) / at.step);
  const slot = at.from + (x - at.left) / at.px;
  if (rank < 0 || rank >= answer.p || slot < at.from || slot >= at.to) return null;
  const below = y - yOf(at, rank) - at.lane;
  if (below >= 0) return lifeAt(answer, rank, Math.floor(Math.max(0, below - barGap(at)) / at.bar), slot);
  for (const op of ops[rank]) {
    const k = Math.floor((slot - op.slot) / answer.block.period);
    if (slot - op.slot - k * answer.block.period < op.length && Math.abs(k) <= at.copies) return { op, k };
  }
  return null;
}

function lifeAt(answer: Answer, rank: number, chunk: number, slot: number) {
  if (chunk >= answer.chunks) return null;
  const [f, , w] = answer.block.slots[rank][chunk];
  return slot >= f && slot < w + 1 ? { rank, chunk } : null;
}

/** For how many slots each chunk's activations are kept on a device. */
export const livesOf = ({ block }: Answer, rank: number) => block.slots[rank].map(([f, , w]) => w + 1 - f);

/** Two decimals at most. */
const short = (x: number) => String(Number(x.toFixed(2)));

/** "22 / 6", "3.67" of a device. */
export function arithmetic(answer: Answer, rank: number) {
  const { lifespan, period } = answer.block;
  return { ratio: `${short(lifespan[rank])} / ${short(period)}`, memory: short(answer.memory[rank]) };
}

/**
 * In what the schedule on the screen differs from its block. Options that a page does not know are left out of its
 * specs.
 */
export function remark(
  answer: Answer,
  {
    m,
    recompute,
    offload = "none",
    vocabulary = "plain",
    forward_only = false,
  }: Spec & { offload?: Modes; vocabulary?: string },
) {
  if (forward_only)
    return t("Of the schedule with backwards: a forward-only one has the forwards of this block alone.");
  const { period } = answer.block;
  const less = [recompute !== "none" && t("recomputation"), offload !== "none" && t("offload")].filter(Boolean);
  return [
    m * period < windowOf(answer).to - period &&
      t("With m = {m} the last micro-batch begins before the first is done, so this steady state is not reached.", {
        m,
      }),
    less.length &&
      t("Chunks are counted whole here; with {options} a device keeps less of each.", {
        options: less.join(t(" and ")),
      }),
    vocabulary !== "plain" &&
      vocabulary !== "redistribute" &&
      t(
        "The spread output layer is left out: its passes S and T, and the micro-batches further ahead that hide " +
          "its barriers.",
      ),
  ]
    .filter(Boolean)
    .join(t(" "));
}

/** "k", "k + 2", "k − 1". */
export const microName = (k: number) => (k === 0 ? "k" : `k ${k > 0 ? "+" : "−"} ${Math.abs(k)}`);

const names = () => [
  t("Forward (F)"),
  t("Input gradient (I)"),
  t("Weight gradient (W)"),
  t("Full backward (B = I + W)"),
];

/** What is there, in a sentence. */
export function say(answer: Answer, found: Hit) {
  const { period, slots } = answer.block;
  if (!("op" in found)) {
    const [f, , w] = slots[found.rank][found.chunk];
    return t(
      "{place} keeps the activations of micro-batch k for {slots} slots, from the start of F at {from} to the end " +
        "of W at {to}.",
      {
        place: answer.chunks > 1 ? t("Rank {rank}, chunk {chunk}", found) : t("Rank {rank}", found),
        slots: w + 1 - f,
        from: f,
        to: w + 1,
      },
    );
  }
  const { op, k } = found;
  const at = op.slot + k * period;
  const where =
    answer.chunks > 1 ? t("on rank {rank}, chunk {chunk}, stage {stage}", op) : t("on rank {rank}, stage {stage}", op);
  const [f, , w] = slots[op.rank][op.chunk];
  const tail =
    op.kind === KIND_F
      ? t("takes activations that are kept until {end}, for {slots} slots", {
          end: w + 1 + k * period,
          slots: w + 1 - f,
        })
      : op.kind === KIND_I
        ? t("the activations stay for W, which ends at {end}", { end: w + 1 + k * period })
        : t("gives back the activations that were kept for {slots} slots", { slots: w + 1 - f });
  const values = { name: names()[op.kind], micro: microName(k), where, at, next: at + 1, tail };
  return op.length > 1
    ? t("{name} of micro-batch {micro} {where}: slots {at} and {next}; {tail}.", values)
    : t("{name} of micro-batch {micro} {where}: slot {at}; {tail}.", values);
}

/** The op beside another: along the rank, or on the next rank at the nearest time. */
export function beside(ops: BlockOp[][], op: BlockOp, along: number, across: number): BlockOp {
  if (along) return ops[op.rank][ops[op.rank].indexOf(op) + along] ?? op;
  const row = ops[op.rank + across];
  if (!row) return op;
  return row.reduce((best, each) => (Math.abs(each.slot - op.slot) < Math.abs(best.slot - op.slot) ? each : best));
}
