// Reads packed links of the first format (z=..., without a leading point): published links must open for good.
//
// An arithmetic coder over the query's characters, bit by bit. Six context models each predict the next bit and a mixer
// combines them (after Mahoney's lpaq, in integers only, so that every machine computes the same). The models are
// trained on PRIMER first. Base64url, preceded by a checksum of two characters. PRIMER and every number here are the
// format and stay as they are. backend/address/arithmetic_code.py reads the same; pack.js writes today's format.

export const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const PRIMER =
  "family=zb-h1&p=8&m=32&v=2&group=8&memory=2.5&w_share=0.4324&lifo=true&recompute=selective&layers=62*2,1" +
  "&vocabulary=parallel-1&offload=full&shared_link=true&weights=0.5&effort=4096&seed=7&F=1.5,62*1,1.5" +
  "&I=18.09,9.337,64.123,71.234&W=54.12,0.601&comm=0.25&FB=46.1&S=0.25&T=0.5&O=22.1&b.family=interleaved-zb&b.p=16" +
  "&b.m=64&b.v=4&b.memory=none&b.F=1&b.I=1&b.W=1&b.comm=0&c.family=v-half&c.p=32&d.family=1f1b&m.model=llama3-70b" +
  "&m.machine=h100&m.tp=8&m.efficiency=0.45&m.heads=1&m.sequence=8192&m.micro_batch=2&m.layers=2*39&m.hidden=5120" +
  "&m.attn=40&m.kv=none&m.ffn=13824&m.vocab=152064&m.active=3.5e8&m.stored=1e9&m.gated=1&m.flash=0&m.flops=4e14" +
  "&m.memory=8e10&m.hbm=2e12&m.intra=2e11&m.inter=2.5e10&m.host=5e10&m.intra_s=1.5e-6&m.inter_s=1e-5&m.node=4" +
  "&m.off=1&t0=3.25&t1=9.5&at=4.25&sel=2F5@3&theme=dark&tab=compare&run=0f3a9c2e&families=-gpipe,dualpipe&mem=1" +
  "&chart=pareto:bubble&crit=1&micro=3&lane=comm&story=ranks&area=12-30@0-3&marks=3,10.5&pin=0,7&lang=zh&order=";
const BITS = 7; // a query is ASCII
const SLOTS = 65_536; // in the table of each context
const CONTEXTS = 6;
const COUNT_LIMIT = 250;
const FIRST_WEIGHT = 14_000; // of a mixer input, out of 65,536
const RATE = 14;
const MOST_CHARACTERS = 65_536;

/** 4096 / (1 + exp(-x / 256)), interpolated between integers. @param {number} x */
function squash(x) {
  if (x > 2047) return 4095;
  if (x < -2047) return 1;
  const index = Math.floor(x / 128) + 16;
  const part = x - (index - 16) * 128;
  return Math.floor((CURVE[index] * (128 - part) + CURVE[index + 1] * part + 64) / 128);
}
const CURVE = [
  1, 2, 3, 6, 10, 16, 27, 45, 73, 120, 194, 310, 488, 747, 1101, 1546, 2047, 2549, 2994, 3348, 3607, 3785, 3901, 3975,
  4022, 4050, 4068, 4079, 4085, 4089, 4092, 4093, 4094,
];

/** The inverse of squash. */
const STRETCH = new Int16Array(4096);
for (let x = -2047, from = 0; x <= 2047; x++) {
  for (const to = squash(x); from <= to; from++) STRETCH[from] = x;
  if (x === 2047) STRETCH.fill(2047, from);
}

/** Digits share one class; every other character is its own. @param {number} char */
const charClass = (char) => (char >= 48 && char <= 57 ? 48 : char);

/** Predicts the next bit from the characters before it. */
class Model {
  #probabilities = new Uint16Array(CONTEXTS * SLOTS).fill(32_768);
  #counts = new Uint8Array(CONTEXTS * SLOTS);
  // one set after digits, one after separators, one after letters
  #weights = new Array(3 * CONTEXTS).fill(FIRST_WEIGHT);
  #slots = [0, 0, 0, 0, 0, 0];
  #inputs = [0, 0, 0, 0, 0, 0];
  #contexts = [0, 0, 0, 0, 0, 0];
  #last = [0, 0, 0, 0, 0];
  #key = 0;
  #set = 0;
  #node = 1;
  #mixed = 0;

  copy() {
    const other = new Model();
    other.#probabilities = this.#probabilities.slice();
    other.#counts = this.#counts.slice();
    other.#weights = [...this.#weights];
    other.#contexts = [...this.#contexts];
    other.#last = [...this.#last];
    other.#key = this.#key;
    other.#set = this.#set;
    return other;
  }

  /** The probability that the next bit is 1, out of 4096. */
  predict() {
    let sum = 0;
    for (let k = 0; k < CONTEXTS; k++) {
      const slot = k * SLOTS + ((this.#contexts[k] + this.#node * 509) % SLOTS);
      this.#slots[k] = slot;
      this.#inputs[k] = STRETCH[Math.floor(this.#probabilities[slot] / 16)];
      sum += this.#inputs[k] * this.#weights[this.#set + k];
    }
    this.#mixed = squash(Math.floor(sum / 65_536));
    return this.#mixed;
  }

  /** Trains the model on the bit that came. @param {0 | 1} bit */
  update(bit) {
    const error = (bit * 4096 - this.#mixed) * RATE;
    for (let k = 0; k < CONTEXTS; k++) {
      this.#weights[this.#set + k] += Math.floor((this.#inputs[k] * error + 32_768) / 65_536);
      const slot = this.#slots[k];
      const distance = bit ? 65_535 - this.#probabilities[slot] : this.#probabilities[slot];
      const step = Math.floor((distance * 2) / (2 * this.#counts[slot] + 3));
      this.#probabilities[slot] += bit ? step : -step;
      if (this.#counts[slot] < COUNT_LIMIT) this.#counts[slot]++;
    }
    this.#node = this.#node * 2 + bit;
    if (this.#node >= 1 << BITS) this.#startCharacter(this.#node - (1 << BITS));
  }

  /** Computes the contexts of the next character. @param {number} char the one that ended */
  #startCharacter(char) {
    this.#node = 1;
    this.#last = [char, ...this.#last.slice(0, 4)];
    const [a, b, c, d, e] = this.#last;
    if (char === 38) this.#key = 0;
    else if (char === 61) this.#key += 1000;
    else if (this.#key < 1000) this.#key = (this.#key * 31 + char) % 997;
    const shape = [b, c, d, e].reduce((sum, each) => (sum * 37 + charClass(each)) % SLOTS, charClass(a));
    const near = (charClass(a) * 128 + charClass(b)) * 3 + 1;
    this.#contexts = [
      a * 131,
      (a * 131 + b) * 127,
      ((a * 131 + b) * 127 + c) * 113,
      near * 7,
      shape * 11 + 5,
      (this.#key * 128 + charClass(a)) * 17 + 3,
    ].map((context, k) => (context * 2 + k) % SLOTS);
    this.#set = CONTEXTS * (charClass(a) === 48 ? 0 : a === 44 || a === 46 || a === 42 ? 1 : 2);
  }
}

/** @type {Model | null} */
let trained = null;

/** A copy of the model that was trained on PRIMER. */
function trainedModel() {
  if (!trained) {
    trained = new Model();
    for (let at = 0; at < PRIMER.length; at++) {
      for (let k = BITS - 1; k >= 0; k--) {
        trained.predict();
        trained.update(/** @type {0 | 1} */ ((PRIMER.charCodeAt(at) >> k) & 1));
      }
    }
  }
  return trained.copy();
}

/** Twelve bits in two characters. @param {string} text */
export function checksum(text) {
  let sum = 7;
  for (const char of text) sum = (sum * 31 + char.charCodeAt(0)) % 4093;
  return ALPHABET[Math.floor(sum / 64)] + ALPHABET[sum % 64];
}

/** The text of a link of the first format; null if it is malformed or truncated.
 * @param {string} packed @returns {string | null} */
export function unpackArithmetic(packed) {
  if (!/^[A-Za-z0-9_-]{3,}$/.test(packed)) return null;
  const bytes = bytesOf(packed.slice(2));
  const model = trainedModel();
  let at = 0;
  const next = () => bytes[at++] ?? 0;
  let [low, high, value] = [0, 0xffffffff, 0];
  for (let k = 0; k < 4; k++) value = value * 256 + next();
  let text = "";
  let node = 1;
  while (text.length <= MOST_CHARACTERS && at < bytes.length + 8) {
    const middle = low + Math.floor(((high - low) * model.predict()) / 4096);
    const bit = value <= middle ? 1 : 0;
    if (bit) high = middle;
    else low = middle + 1;
    model.update(bit);
    while (low >>> 24 === high >>> 24) {
      low = (low << 8) >>> 0;
      high = ((high << 8) | 255) >>> 0;
      value = ((value << 8) | next()) >>> 0;
    }
    node = node * 2 + bit;
    if (node < 1 << BITS) continue;
    if (node === 1 << BITS) return checksum(text) === packed.slice(0, 2) ? text : null; // character 0 ends the text
    text += String.fromCharCode(node - (1 << BITS));
    node = 1;
  }
  return null;
}

/** @param {string} text base64url without padding */
function bytesOf(text) {
  /** @type {number[]} */
  const bytes = [];
  for (let at = 0; at < text.length; at += 4) {
    const four = text.slice(at, at + 4);
    const all = [...four.padEnd(4, "A")].reduce((sum, char) => sum * 64 + ALPHABET.indexOf(char), 0);
    bytes.push(...[16, 8, 0].slice(0, four.length - 1).map((shift) => (all >> shift) & 255));
  }
  return bytes;
}
