// Finds the sentences of a catalogue again in texts that are made of them: holes filled, one put into another's hole,
// several one after the other, lists with commas. Of all ways to read a text the one that leaves least English counts.

/** @typedef {import("./lang.js").Catalogue} Catalogue */
/** @typedef {{said: string, left: number}} Reading  in the other language; how many words of it stayed English */
/** @typedef {{parts: string[], holes: string[], into: string, first: string | null}} Pattern  the text around its holes; its
 * first word, if it begins with a whole one */
/** @typedef {{texts: Catalogue, patterns: Pattern[], byWord: Map<string, Pattern[]>, known: Map<string, Reading>}} Reader */

const KEPT = 4000; // readings remembered; all are forgotten when there are more
const BARE = 4; // letters that a pattern has at least, lest it fit everything
const DEEP = 12; // sentences inside one another
const WORD = /[a-z]{2,}/g;
const FIRST = /^[\w'-]+(?=[^\w'-])/;

/** What joins sentences and phrases, in English and in Chinese. @type {readonly [string, string][]} */
const JOINTS = [[". ", "。"], ["; ", "；"], [": ", "："], [", and ", "，以及"], [", ", "，"], [" and ", " 和 "], [" or ", " 或 "], ["<br>", "<br>"]];

/** @param {Catalogue} texts @returns {(text: string) => string} */
export function reader(texts) {
  const patterns = Object.entries(texts).filter(([from]) => /\{\w+\}/.test(from)).map(pattern).filter((each) => letters(each) >= BARE);
  patterns.sort((a, b) => letters(b) - letters(a));
  /** @type {Reader} */
  const by = { texts, patterns, byWord: new Map(), known: new Map() };
  return (text) => spaced(read(by, text, 0).said);
}

/** @param {[string, string]} entry @returns {Pattern} */
function pattern([from, into]) {
  const parts = from.split(/\{\w+\}/);
  return { parts, holes: [...from.matchAll(/\{(\w+)\}/g)].map(([, name]) => name), into, first: FIRST.exec(parts[0])?.[0] ?? null };
}

/** @param {Pattern} each */
const letters = ({ parts }) => parts.join("").replace(/[^A-Za-z]/g, "").length;

/** @param {string} text @returns {Reading} as it stands */
const english = (text) => ({ said: text, left: text.match(WORD)?.length ?? 0 });

/** The best reading of a text. @param {Reader} by @param {string} text @param {number} depth @returns {Reading} */
function read(by, text, depth) {
  if (Object.hasOwn(by.texts, text)) return { said: by.texts[text], left: 0 };
  const known = by.known.get(text);
  if (known) return known;
  let best = english(text);
  if (best.left === 0 || depth > DEEP) return best;
  for (const each of candidates(by, text)) {
    const found = fitted(by, each, text, best.left, depth);
    if (found && found.left < best.left) best = found;
    if (best.left === 0) break;
  }
  if (best.left > 0) best = joined(by, text, best, depth);
  if (by.known.size > KEPT) by.known.clear();
  by.known.set(text, best);
  return best;
}

/** Patterns that may fit, those with most words first. @param {Reader} by @param {string} text */
function candidates(by, text) {
  const word = FIRST.exec(text)?.[0] ?? "";
  let found = by.byWord.get(word);
  if (!found) {
    found = by.patterns.filter(({ first }) => first === null || first === word);
    by.byWord.set(word, found);
  }
  return found;
}

/**
 * The best way to fit a pattern to a text, if it leaves less English than `most`.
 * @param {Reader} by @param {Pattern} each @param {string} text @param {number} most @param {number} depth @returns {Reading | null}
 */
function fitted(by, { parts, holes, into }, text, most, depth) {
  if (!text.startsWith(parts[0]) || !text.endsWith(parts[parts.length - 1])) return null;
  const end = text.length - parts[parts.length - 1].length;
  /** @type {string[]} */
  const values = [];
  /** @type {string[] | null} */
  let best = null;
  let least = most;
  /** @param {number} at where the hole begins @param {number} hole @param {number} left words of English so far */
  const walk = (at, hole, left) => {
    if (left >= least) return;
    if (hole === holes.length - 1) {
      if (at > end) return;
      const last = read(by, text.slice(at, end), depth + 1);
      if (left + last.left >= least) return;
      least = left + last.left;
      best = [...values.slice(0, hole), last.said];
      return;
    }
    for (const stop of stops(text, at, end, parts[hole + 1])) {
      const filled = read(by, text.slice(at, stop), depth + 1);
      values[hole] = filled.said;
      walk(stop + parts[hole + 1].length, hole + 1, left + filled.left);
      if (least === 0) return;
    }
  };
  walk(parts[0].length, 0, 0);
  if (!best) return null;
  const said = into.replace(/\{(\w+)\}/g, (hole, name) => (holes.includes(name) ? /** @type {string[]} */ (best)[holes.indexOf(name)] : hole));
  return { said, left: least };
}

/** Where a hole may end: before what follows it; where another hole does, between words. @param {string} text @param {number} at @param {number} end @param {string} next */
function stops(text, at, end, next) {
  const found = [];
  if (next) for (let stop = text.indexOf(next, at); stop >= 0 && stop + next.length <= end; stop = text.indexOf(next, stop + 1)) found.push(stop);
  else for (let stop = at; stop <= end; stop++) if (stop === at || stop === end || /\W/.test(text[stop])) found.push(stop);
  return found;
}

/** A text as phrases that stand side by side, where that is better. @param {Reader} by @param {string} text @param {Reading} best @param {number} depth */
function joined(by, text, best, depth) {
  for (const [joint, other] of JOINTS) {
    const parts = text.split(joint);
    if (parts.length < 2 || parts.some((part) => !part)) continue;
    const whole = joint === ". " ? parts.map((part, k) => (k < parts.length - 1 ? `${part}.` : part)) : parts;
    const read_ = whole.map((part) => phrase(by, part, depth));
    const left = read_.reduce((sum, part) => sum + part.left, 0);
    if (left < best.left) best = { said: read_.map(({ said }) => said).join(joint === ". " ? "" : other), left };
  }
  return best;
}

/** A part of a text; one sentence of several may have lost its full stop, or have one more. @param {Reader} by @param {string} part @param {number} depth */
function phrase(by, part, depth) {
  const found = read(by, part, depth + 1);
  if (found.left === 0 || !part.endsWith(".")) return found;
  const bare = read(by, part.slice(0, -1), depth + 1);
  return bare.left < found.left ? { said: `${bare.said}。`, left: bare.left } : found;
}

const HAN = "\\u3400-\\u9fff";
const BEFORE = new RegExp(`([${HAN}])([A-Za-z0-9(])`, "g");
const AFTER = new RegExp(`([A-Za-z0-9)%])([${HAN}])`, "g");

/** Chinese and Latin letters or numbers have a space between them. @param {string} text */
const spaced = (text) => text.replace(BEFORE, "$1 $2").replace(AFTER, "$1 $2");
