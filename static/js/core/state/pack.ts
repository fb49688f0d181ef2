// A long query in fewer characters, for links whose readable form would be too long: z=.TEXT or z=.TEXT.NUMBERS
//
// NUMBERS: lists of three numbers or more, and single numbers of three digits or more, are taken out of the query.
// Each leaves a character 1 behind and is written as bits (see numberBits), six to a character: a digit of a list
// then costs 3.4 bits, where deflate alone needs 4.1.
//
// TEXT: a checksum of two characters, then what is left of the query, deflated (RFC 1951) with DICTIONARY as preset
// dictionary, in base64url. fflate, not the browser's CompressionStream: that one is asynchronous, while links are read
// and written within one event, and it takes no dictionary, without which a query of 130 characters grows.
//
// DICTIONARY and every width here are the format: once published they stay. backend/address/packed.py reads the same.

import { deflateSync, inflateSync } from "../../../vendor/fflate.js";
import { fromBase64url, toBase64url } from "./base64url.ts";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const NUMBER_TAKEN = "\x01";
/** What a query usually holds, the most usual last; "#" where numbers were taken out. */
const DICTIONARY = new TextEncoder().encode(
  (
    "&planned=1&late=1&colours=paper&hatch=1&crit=1&micro=3&lane=comm&story=0&story=ranks&marks=3,10.5&pin=0,7" +
    "&lang=en&lang=zh&area=12-30@0-3&m.active=3.5e8&m.stored=1e9&m.gated=1&m.flash=0&m.flops=4e14&m.memory=8e10" +
    "&m.hbm=2e12&m.intra=2e11&m.inter=5e10&m.host=5e10&m.intra_s=1.5e-6&m.inter_s=1e-5&m.node=8" +
    "&m.model=llama3-70b&m.machine=a100-80&m.machine=h100&m.tp=8&m.efficiency=#&m.heads=1&m.sequence=#" +
    "&m.micro_batch=2&m.layers=80&m.hidden=#&m.attn=40&m.kv=none&m.ffn=#&m.vocab=#&m.off=1&lifo=true" +
    "&recompute=full&layers=62*2,1&vocabulary=redistribute&vocabulary=interlaced&offload=full&memory=none" +
    "&group=none&d.comm=#&d.family=interleaved&d.p=#&d.m=#&d.v=1&d.memory=#&d.F=#&d.I=#&d.W=#&c.family=v-half" +
    "&c.p=#&c.m=#&c.v=1&c.memory=#&c.F=#&c.I=#&c.W=#&b.family=dualpipev&b.p=16&b.m=64&b.v=4&b.group=8" +
    "&b.memory=#&b.F=#&b.I=#&b.W=#&family=interleaved-zb&family=pipedream&family=zb-auto&family=zb-h1&p=8&m=32" +
    "&p=16&m=64&p=32&m=128&v=4&v=2&group=8&memory=#&w_share=#&lifo=true&recompute=selective" +
    "&vocabulary=parallel-1&offload=selective&shared_link=true&weights=#&effort=#&seed=7&p=16&F=#&I=#&W=#" +
    "&comm=#&FB=#&S=#&T=#&O=#&t0=#&t1=#&at=#&sel=2F5@b&theme=light&tab=charts&tab=costs&theme=dark&tab=compare" +
    "&run=0f3a9c2e&families=-gpipe,1f1b,gis,v-auto&mem=1&chart=pareto:bubble"
  ).replaceAll("#", NUMBER_TAKEN),
);
const NUMBER = "(?:0|[1-9]\\d{0,7})(?:\\.\\d{0,6}[1-9])?"; // as JavaScript writes it; at most 15 digits, 7 decimals
const NUMBERS = new RegExp(`(^|[=,])(${NUMBER}(?:,${NUMBER}){2,255}|(?=[\\d.]{3})${NUMBER})(?=[,&]|$)`, "g");
const MOST_CHARACTERS = 65_536; // of a query, packed or not
// Widths in bits.
const [COUNT, DECIMALS, SPREAD, WIDTH, DIGITS] = [8, 3, 2, 6, 4];

/** The packed form of an ASCII text; null for any other. */
export function pack(text: string): string | null {
  if (!/^[ -~]*$/.test(text) || text.length > MOST_CHARACTERS) return null;
  let bits = "";
  const rest = text.replace(NUMBERS, (_, before, numbers) => {
    bits += numberBits(numbers.split(","));
    return before + NUMBER_TAKEN;
  });
  const deflated = deflateSync(new TextEncoder().encode(rest), { level: 9, dictionary: DICTIONARY });
  return `.${checksum(text)}${toBase64url(deflated)}${bits ? `.${charactersOf(bits)}` : ""}`;
}

/** The text of a packed form; null if it is malformed or truncated. */
export function unpack(packed: string): string | null {
  const parts = /^\.([\w-]{2})([\w-]+)(?:\.([\w-]+))?$/.exec(packed);
  if (!parts || packed.length > MOST_CHARACTERS) return null;
  const [, sum, deflated, numbers = ""] = parts;
  try {
    const text = withNumbers(inflated(deflated), bitsOf(numbers));
    return checksum(text) === sum ? text : null;
  } catch {
    return null; // no bytes, not deflated data, or fewer bits than numbers
  }
}

/** Twelve bits in two characters. */
function checksum(text: string) {
  let sum = 7;
  for (const char of text) sum = (sum * 31 + char.charCodeAt(0)) % 4093;
  return ALPHABET[Math.floor(sum / 64)] + ALPHABET[sum % 64];
}

function inflated(characters: string) {
  const out = new Uint8Array(MOST_CHARACTERS); // what is longer is cut off, and the checksum then differs
  return new TextDecoder().decode(inflateSync(fromBase64url(characters), { dictionary: DICTIONARY, out }));
}

/**
 * One number: 0, its decimals, its digits - 1, the number without its point in as many bits as that many digits need.
 * Several: 1, their count - 1, the least decimals, the width of "decimals more than that", the width of a number; then
 * each number's decimals and the number without its point. Trailing zeros are added where that saves bits.
 */
function numberBits(numbers: string[]) {
  if (numbers.length === 1) {
    const mantissa = Number(numbers[0].replace(".", ""));
    const digits = String(mantissa).length;
    const head = `0${binary(decimalsOf(numbers[0]), DECIMALS)}${binary(digits - 1, DIGITS)}`;
    return head + binary(mantissa, bitsFor(digits));
  }
  const { least, spread, width, scaled } = tightest(numbers);
  const head = `1${binary(numbers.length - 1, COUNT)}${binary(least, DECIMALS)}${binary(spread, SPREAD)}`;
  const each = scaled.map(([more, mantissa]) => binary(more, spread) + binary(mantissa, width));
  return head + binary(width, WIDTH) + each.join("");
}

/** The way to write a list that takes the fewest bits. */
function tightest(numbers: string[]) {
  const most = Math.max(...numbers.map(decimalsOf));
  const ways = [];
  for (let spread = 0; spread < 1 << SPREAD; spread++) {
    const least = Math.max(0, most - (1 << spread) + 1);
    const scaled = numbers.map((text) => {
      const decimals = Math.max(decimalsOf(text), least);
      return [decimals - least, Number(text.replace(".", "") + "0".repeat(decimals - decimalsOf(text)))];
    });
    const width = Math.max(...scaled.map(([, mantissa]) => mantissa)).toString(2).length;
    ways.push({ least, spread, width, scaled });
  }
  return ways.reduce((best, way) => (way.spread + way.width < best.spread + best.width ? way : best));
}

/** Puts the numbers back; throws where bits are missing. */
function withNumbers(text: string, bits: string) {
  let at = 0;
  const next = (width: number) => {
    if (at + width > bits.length) throw new RangeError("fewer bits than numbers");
    return width ? parseInt(bits.slice(at, (at += width)), 2) : 0;
  };
  return text.replaceAll(NUMBER_TAKEN, () => {
    if (next(1) === 0) {
      const decimals = next(DECIMALS);
      return decimal(next(bitsFor(next(DIGITS) + 1)), decimals);
    }
    const count = next(COUNT) + 1;
    const [least, spread, width] = [next(DECIMALS), next(SPREAD), next(WIDTH)];
    return Array.from({ length: count }, () => {
      const decimals = least + next(spread);
      return decimal(next(width), decimals);
    }).join(",");
  });
}

/** 585, 2 -> "5.85"; 270, 1 -> "27". */
function decimal(mantissa: number, decimals: number) {
  if (decimals === 0) return String(mantissa);
  const digits = String(mantissa).padStart(decimals + 1, "0");
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`.replace(/\.?0+$/, "");
}

const decimalsOf = (number: string) => (number.split(".")[1] ?? "").length;

/** Bits that any number of this many digits fits in. */
const bitsFor = (digits: number) => (10 ** digits - 1).toString(2).length;

/** Returns of 0 and 1. */
const binary = (number: number, width: number): string => (width ? number.toString(2).padStart(width, "0") : "");

/** Returns six bits a character, zeros after the last. */
const charactersOf = (bits: string): string =>
  bits.replace(/.{1,6}/g, (six) => ALPHABET[parseInt(six.padEnd(6, "0"), 2)]);

/** Returns of 0 and 1. */
const bitsOf = (characters: string): string =>
  Array.from(characters, (char) => binary(ALPHABET.indexOf(char), 6)).join("");
