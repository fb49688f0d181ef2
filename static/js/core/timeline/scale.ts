// Round ticks of an axis.

/** The smallest of 1, 2, 5 times a power of ten that gives at most count steps. */
export function tickStep(span: number, count: number) {
  const rough = span / Math.max(1, count);
  if (!(rough > 0) || !Number.isFinite(rough)) return 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  for (const unit of [1, 2, 5]) if (unit * power >= rough * (1 - 1e-9)) return unit * power;
  return 10 * power;
}

/** Round positions within [d0, d1], at most count + 1 of them. */
export function ticks(d0: number, d1: number, count: number): number[] {
  const step = tickStep(d1 - d0, count);
  const out = [];
  // Multiply, never add up: 0.1 * 3 shows less dust than 0.1 + 0.1 + 0.1, and toPrecision removes the rest.
  for (let k = Math.ceil(d0 / step - 1e-9); k * step <= d1 + step * 1e-9; k++)
    out.push(Number((k * step).toPrecision(12)));
  return out;
}
