// The playhead of one <bubble-line>: the whole step in eight seconds.

const WHOLE = 8000; // ms, at a speed of 1
const LONGEST_FRAME = 100; // ms; after a pause of the browser the playhead goes on where it was

export class Player {
  onChange: () => void;

  /** null: no playhead, all is shown. */
  at: number | null = null;
  total = 1;
  speed = 1;
  #frame = 0;
  #last = 0;

  constructor(onChange: () => void) {
    this.onChange = onChange;
  }

  get playing() {
    return this.#frame !== 0;
  }

  #tick = (now: number) => {
    const elapsed = this.#last ? Math.min(LONGEST_FRAME, now - this.#last) : 0;
    this.#last = now;
    this.at = (this.at ?? 0) + (elapsed / WHOLE) * this.speed * this.total;
    if (this.at >= this.total) {
      this.at = null;
      this.stop();
      return;
    }
    this.#frame = requestAnimationFrame(this.#tick);
    this.onChange();
  };

  play() {
    if (this.playing) return;
    this.at ??= 0;
    this.#last = 0;
    this.#frame = requestAnimationFrame(this.#tick);
    this.onChange();
  }

  stop() {
    if (!this.playing) return;
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    this.onChange();
  }

  toggle() {
    if (this.playing) this.stop();
    else this.play();
  }

  seek(at: number | null) {
    this.stop();
    this.at = at === null || at >= this.total ? null : Math.max(0, at);
    this.onChange();
  }
}
