// A long query in fewer characters: z=... for views whose readable link would be too long. Knows text, no view.
//
// An arithmetic coder over the query's characters, bit by bit. Six contexts each say how likely a 1 is, and a mixer
// that
// learns whom to trust makes one chance of them (the way of Mahoney's lpaq, in whole numbers only, so that every
// machine
// computes the same). The model has read PRIMER before it starts: a link's keys cost next to nothing, a digit of a list
// little more than its 3.3 bits. Written in base64url; the first two characters are a checksum. PRIMER and every number
// here are the format: once published they stay. backend/web/address/packed.py reads the same.

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const PRIMER =
  "family=zb-h1&p=8&m=32&v=2&group=8&memory=2.5&w_share=0.4324&lifo=true&recompute=selective&layers=62*2,1&vocabulary=parallel-1" +
  "&offload=full&shared_link=true&weights=0.5&effort=4096&seed=7&F=1.5,62*1,1.5&I=18.09,9.337,64.123,71.234&W=54.12,0.601&comm=0.25&FB=46.1" +
  "&S=0.25&T=0.5&O=22.1&b.family=interleaved-zb&b.p=16&b.m=64&b.v=4&b.memory=none&b.F=1&b.I=1&b.W=1&b.comm=0&c.family=v-half&c.p=32&d.family=1f1b" +
  "&m.model=llama3-70b&m.machine=h100&m.tp=8&m.efficiency=0.45&m.heads=1&m.sequence=8192&m.micro_batch=2&m.layers=2*39&m.hidden=5120&m.attn=40" +
  "&m.kv=none&m.ffn=13824&m.vocab=152064&m.active=3.5e8&m.stored=1e9&m.gated=1&m.flash=0&m.flops=4e14&m.memory=8e10&m.hbm=2e12&m.intra=2e11" +
  "&m.inter=2.5e10&m.host=5e10&m.intra_s=1.5e-6&m.inter_s=1e-5&m.node=4&m.off=1&t0=3.25&t1=9.5&at=4.25&sel=2F5@3&theme=dark&tab=compare&run=0f3a9c2e" +
  "&families=-gpipe,dualpipe&mem=1&chart=pareto:bubble&crit=1&micro=3&lane=comm&story=ranks&area=12-30@0-3&marks=3,10.5&pin=0,7&lang=zh&order=";
const BITS = 7; // a query is ASCII
const SLOTS = 65_536; // of each context's table
const CONTEXTS = 6;
const LIMIT = 250; // a slot's count ends here
const START = 14_000; // of a mixer's weight, of 65536
const RATE = 14;
const END = 0;
const MOST_PACKED = 65_536; // characters that a packed link may stand for

/** 4096 / (1 + exp(-x / 256)), between whole numbers by straight lines. @param {number} x */
function squash(x) {
  if (x > 2047) return 4095;
  if (x < -2047) return 1;
  const at = Math.floor(x / 128) + 16;
  const part = x - (at - 16) * 128;
  return Math.floor((CURVE[at] * (128 - part) + CURVE[at + 1] * part + 64) / 128);
}
const CURVE = [
  1, 2, 3, 6, 10, 16, 27, 45, 73, 120, 194, 310, 488, 747, 1101, 1546, 2047, 2549, 2994, 3348, 3607, 3785, 3901, 3975,
  4022, 4050, 4068, 4079, 4085, 4089, 4092, 4093, 4094,
];

/** The way back, for every chance. */
const STRETCH = new Int16Array(4096);
for (let x = -2047, from = 0; x <= 2047; x++) {
  for (const to = squash(x); from <= to; from++) STRETCH[from] = x;
  if (x === 2047) STRETCH.fill(2047, from);
}

/** Digits are alike, letters stand for themselves. @param {number} char */
const kind = (char) => (char >= 48 && char <= 57 ? 48 : char);

/** What the coder expects. */
class Model {
  #chances = new Uint16Array(CONTEXTS * SLOTS).fill(32_768);
  #counts = new Uint8Array(CONTEXTS * SLOTS);
  #weights = new Array(3 * CONTEXTS).fill(START); // a set for digits, one for what divides numbers, one for words
  #at = [0, 0, 0, 0, 0, 0];
  #inputs = [0, 0, 0, 0, 0, 0];
  #contexts = [0, 0, 0, 0, 0, 0];
  #last = [0, 0, 0, 0, 0];
  #key = 0;
  #set = 0;
  #node = 1;
  #mixed = 0;

  /** A model that goes on from here by itself. */
  copy() {
    const other = new Model();
    other.#chances = this.#chances.slice();
    other.#counts = this.#counts.slice();
    other.#weights = [...this.#weights];
    other.#contexts = [...this.#contexts];
    other.#last = [...this.#last];
    other.#key = this.#key;
    other.#set = this.#set;
    return other;
  }

  /** The chance of a 1 next, of 4096. */
  chance() {
    let sum = 0;
    for (let k = 0; k < CONTEXTS; k++) {
      const at = k * SLOTS + ((this.#contexts[k] + this.#node * 509) % SLOTS);
      this.#at[k] = at;
      this.#inputs[k] = STRETCH[Math.floor(this.#chances[at] / 16)];
      sum += this.#inputs[k] * this.#weights[this.#set + k];
    }
    this.#mixed = squash(Math.floor(sum / 65_536));
    return this.#mixed;
  }

  /** It was this bit. @param {0 | 1} bit */
  learn(bit) {
    const off = (bit * 4096 - this.#mixed) * RATE;
    for (let k = 0; k < CONTEXTS; k++) {
      this.#weights[this.#set + k] += Math.floor((this.#inputs[k] * off + 32_768) / 65_536);
      const at = this.#at[k];
      const step = ((bit ? 65_535 - this.#chances[at] : this.#chances[at]) * 2) / (2 * this.#counts[at] + 3);
      this.#chances[at] += bit ? Math.floor(step) : -Math.floor(step);
      if (this.#counts[at] < LIMIT) this.#counts[at]++;
    }
    this.#node = this.#node * 2 + bit;
    if (this.#node >= 1 << BITS) this.#turn(this.#node - (1 << BITS));
  }

  /** A character is over: the contexts of the next one. @param {number} char */
  #turn(char) {
    this.#node = 1;
    this.#last = [char, ...this.#last.slice(0, 4)];
    const [a, b, c, d, e] = this.#last;
    this.#key =
      char === 38 ? 0 : char === 61 ? this.#key + 1000 : this.#key < 1000 ? (this.#key * 31 + char) % 997 : this.#key;
    const shape = [b, c, d, e].reduce((sum, each) => (sum * 37 + kind(each)) % SLOTS, kind(a));
    const near = (kind(a) * 128 + kind(b)) * 3 + 1;
    this.#contexts = [
      a * 131,
      (a * 131 + b) * 127,
      ((a * 131 + b) * 127 + c) * 113,
      near * 7,
      shape * 11 + 5,
      (this.#key * 128 + kind(a)) * 17 + 3,
    ].map((context, k) => (context * 2 + k) % SLOTS);
    this.#set = CONTEXTS * (kind(a) === 48 ? 0 : a === 44 || a === 46 || a === 42 ? 1 : 2);
  }
}

/** @type {Model | null} */
let reader = null;

/** A model that has read the primer. */
function primed() {
  if (!reader) {
    reader = new Model();
    for (let at = 0; at < PRIMER.length; at++) {
      for (let k = BITS - 1; k >= 0; k--) {
        reader.chance();
        reader.learn(/** @type {0 | 1} */ ((PRIMER.charCodeAt(at) >> k) & 1));
      }
    }
  }
  return reader.copy();
}

/** Where the range is cut. @param {number} low @param {number} high @param {number} chance */
const cut = (low, high, chance) => low + Math.floor(((high - low) * chance) / 4096);

/** @param {string} text */
function checksum(text) {
  let sum = 7;
  for (const char of text) sum = (sum * 31 + char.charCodeAt(0)) % 4093;
  return ALPHABET[Math.floor(sum / 64)] + ALPHABET[sum % 64];
}

/** The packed form of an ASCII text; null for what is none. @param {string} text @returns {string | null} */
export function pack(text) {
  if (!/^[ -~]*$/.test(text) || text.length > MOST_PACKED) return null;
  const model = primed();
  /** @type {number[]} */
  const bytes = [];
  let low = 0;
  let high = 0xffffffff;
  for (let at = 0; at <= text.length; at++) {
    const char = at < text.length ? text.charCodeAt(at) : END;
    for (let k = BITS - 1; k >= 0; k--) {
      const bit = /** @type {0 | 1} */ ((char >> k) & 1);
      const middle = cut(low, high, model.chance());
      if (bit) high = middle;
      else low = middle + 1;
      model.learn(bit);
      while (low >>> 24 === high >>> 24) {
        bytes.push(high >>> 24);
        low = (low << 8) >>> 0;
        high = ((high << 8) | 255) >>> 0;
      }
    }
  }
  bytes.push(((low >>> 24) + 1) & 255); // above low, below high: the shortest number that lies between them
  return checksum(text) + base64(bytes);
}

/** The text of a packed form; null where it is none, or was cut off. @param {string} packed @returns {string | null} */
export function unpack(packed) {
  const bytes = /^[A-Za-z0-9_-]{3,}$/.test(packed) ? fromBase64(packed.slice(2)) : null;
  if (!bytes) return null;
  const model = primed();
  let at = 0;
  const next = () => bytes[at++] ?? 0;
  let [low, high, value] = [0, 0xffffffff, 0];
  for (let k = 0; k < 4; k++) value = value * 256 + next();
  let text = "";
  let node = 1;
  while (text.length <= MOST_PACKED && at < bytes.length + 8) {
    const middle = cut(low, high, model.chance());
    const bit = value <= middle ? 1 : 0;
    if (bit) high = middle;
    else low = middle + 1;
    model.learn(bit);
    while (low >>> 24 === high >>> 24) {
      low = (low << 8) >>> 0;
      high = ((high << 8) | 255) >>> 0;
      value = ((value << 8) | next()) >>> 0;
    }
    node = node * 2 + bit;
    if (node < 1 << BITS) continue;
    if (node === 1 << BITS) return checksum(text) === packed.slice(0, 2) ? text : null;
    text += String.fromCharCode(node - (1 << BITS));
    node = 1;
  }
  return null;
}

/** @param {number[]} bytes */
function base64(bytes) {
  let out = "";
  for (let at = 0; at < bytes.length; at += 3) {
    const [a, b = 0, c = 0] = bytes.slice(at, at + 3);
    const all = a * 65_536 + b * 256 + c;
    const four = [18, 12, 6, 0].map((shift) => ALPHABET[(all >> shift) & 63]).join("");
    out += four.slice(0, Math.min(3, bytes.length - at) + 1);
  }
  return out;
}

/** @param {string} text */
function fromBase64(text) {
  /** @type {number[]} */
  const bytes = [];
  for (let at = 0; at < text.length; at += 4) {
    const four = text.slice(at, at + 4);
    const all = [...four.padEnd(4, "A")].reduce((sum, char) => sum * 64 + ALPHABET.indexOf(char), 0);
    bytes.push(...[16, 8, 0].slice(0, four.length - 1).map((shift) => (all >> shift) & 255));
  }
  return bytes;
}
