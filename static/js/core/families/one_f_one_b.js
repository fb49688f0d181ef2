// GPipe, 1F1B, and the schedules that split 1F1B's backward into I and W: ZB-H1, ZB-H2 and ZB-V. The same rows as
// backend/schedule/families/classic, zero_bubble/handcrafted.py and v_shape/v_zb.py.
import { eachRank, phases } from "./rows.js";
import { KIND_B as B, KIND_F as F, KIND_I as I, KIND_W as W } from "../schedule/ops.js";

/** @import {Spec} from "../schedule/types.js" */
/** @import {Row} from "./rows.js" */

/** GPipe, every rank alike: F of every micro-batch, then B of every micro-batch. @param {Spec} spec @returns {Row[]} */
export function gpipe({ p, m }) {
  const row = phases(
    [m, [F]], // all forwards
    [m, [B]], // all backwards
  );
  return eachRank(p, () => row);
}

/** 1F1B: rank r warms up with one F for every rank after it. @param {Spec} spec @returns {Row[]} */
export function oneFOneB({ p, m }) {
  return eachRank(p, (r) => {
    const warmup = Math.min(m, p - 1 - r);
    return phases(
      [warmup, [F]], // warm-up
      [m - warmup, [F, B]], // steady: one forward, one backward
      [warmup, [B]], // cool-down
    );
  });
}

/**
 * ZB-H1 (c = 1) and ZB-H2 (c = 2): rank r warms up with c(p-1-r) forwards, and its W lags its I by c*r micro-batches.
 * @param {Spec} spec @param {number} c @returns {Row[]}
 */
export function handcrafted({ p, m }, c) {
  return eachRank(p, (r) => {
    const warmup = Math.min(m, c * (p - 1 - r));
    const left = m - warmup; // forwards after the warm-up
    const lag = Math.min(m, c * r); // how far W is behind I
    const early = Math.min(left, lag);
    return phases(
      [warmup, [F]], // 1: warm-up
      [early, [F, I]], // 2: no W yet: the next rank waits for I, not for W
      [left - early, [F, I, W]], // 3: steady
      [lag - early, [I]], // 4: W still lags when the forwards are over
      [m - Math.max(left, lag), [I, W]], // 5: cool-down
      [lag, [W]], // 6: W fills what 1F1B leaves idle
    );
  });
}

/**
 * ZB-V: two chunks per device on a V. The order needs at least 2p - 1 micro-batches; for fewer it is built for 2p - 1,
 * and the surplus is left out.
 * @param {Spec} spec @returns {Row[]}
 */
export function zbV({ p, m }) {
  const full = Math.max(m, 2 * p - 1);
  const [F0, F1, I0, I1, W0, W1] = [F, I, W].flatMap((kind) => [2 * kind, 2 * kind + 1]); // of chunk 0 and chunk 1
  const rows = eachRank(p, (r) =>
    phases(
      [2 * (p - r) - 1, [F0]],
      [r, [F1, F0]],
      [p - r, [F1, I1, W1]],
      [full - 2 * p + r + 1, [F0, I0, W0, F1, I1, W1]], // the forwards of chunk 0 that are left after the warm-up
      [p - r - 1, [I0, W0, F1, I1, W1]], // chunk 0 has no forwards left
      [r, [I0, I1]],
      [p - r, [I0, W0]],
      [r, [W1]],
      [r, [W0]],
    ),
  );
  return full === m ? rows : rows.map((row) => onlyFirst(row, m));
}

/** A row without micro-batches from m on: as every kind takes its micro-batches in order, the first m of each code.
 * @param {Row} row @param {number} m */
function onlyFirst(row, m) {
  const count = new Int32Array(256);
  return row.filter((code) => count[code]++ < m);
}
