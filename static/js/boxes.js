// Where the visible ops of one lane group stand: filled by the painting pass, read by the text pass. Reused every frame.

/** Above this many visible ops they are binned to pixels instead. */
export const RECTANGLES = 5000;

export const boxes = {
  n: 0,
  x: new Float32Array(RECTANGLES),
  w: new Float32Array(RECTANGLES),
  y: new Float32Array(RECTANGLES),
  op: new Int32Array(RECTANGLES),
  slot: new Int32Array(RECTANGLES), // rank * chunks
  cls: new Uint8Array(RECTANGLES),
  order: new Int32Array(RECTANGLES), // box numbers grouped by class
};

/** A hairline between neighbours, when there is room. @param {number} w */
export const inset = (w) => (w > 4 ? w - 1 : w > 2 ? w - 0.5 : w);
