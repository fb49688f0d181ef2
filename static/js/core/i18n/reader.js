// Finds the sentences of a catalogue again in texts that are made of them: holes filled, one put into another's hole,
// several one after the other, lists with commas. Of all ways to read a text the one that leaves least English counts.
//
// In the other language {1} is a hole that is read in its turn, {1!} one that stays as it is: a key, a value, a list of
// names.

/** @typedef {import("./language.js").Catalogue} Catalogue */
/**
 * @typedef {{said: string, left: number}} Reading in the other language; how many words of it stayed English, and a
 *   little for what is odd
 */
/** @typedef {(text: string) => Reading} Read */
/**
 * @typedef {{parts: string[], longest: string, kept: boolean[], into: string, order: string[], first: string | null,
 *   letters: number}} Pattern the text around its holes, and the longest part of it; which holes stay as they are;
 *   their names; its first word, if it begins with a whole one; how much of it is text
 */
/**
 * @typedef {{texts: Catalogue, patterns: Pattern[], tails: string[], byWord: Map<string, Pattern[]>, known: Map<string,
 *   Reading>}} Reader tails are beginnings of what is put at the end of other texts: ", which was sent"
 */

const KEPT = 4000; // readings remembered; all are forgotten when there are more
const BARE = 3; // letters that a pattern has at least, lest it fit everything
const DEEP = 12; // sentences inside one another
const TRIES = 6; // places at which a text is cut that no pattern fits
const ODD = 0.3; // of a word: a hole that reaches over the end of a sentence
const WORD = /(?<![A-Za-z0-9])[a-z]{2,}/g; // names such as GPipe are none
const HAS_WORD = new RegExp(WORD.source);
const FIRST = /^[\w'-]+(?=[^\w'-])/;
const ENDS = /[.;:] /g;
const LANE = /^[A-D] /;

/** What joins sentences and phrases, in English and in Chinese. @type {readonly [string, string][]} */
const JOINTS = [
  [". ", "。"],
  ["; ", "；"],
  [": ", "："],
  [", and ", "，以及"],
  [", ", "，"],
  [" and ", " 和 "],
  [" or ", " 或 "],
];

/** @param {Catalogue} texts @returns {Read} */
export function reader(texts) {
  const patterns = Object.entries(texts)
    .filter(([from]) => /\{\w+\}/.test(from))
    .map(pattern)
    .filter(({ letters }) => letters >= BARE);
  patterns.sort((a, b) => Number(a.parts[0] === "") - Number(b.parts[0] === "") || b.letters - a.letters);
  const tails = [
    ...Object.keys(texts)
      .filter((from) => /^[ ,;]/.test(from))
      .map((from) => from.split("{")[0]),
    " (",
  ];
  /** @type {Reader} */
  const by = { texts, patterns, tails, byWord: new Map(), known: new Map() };
  return (text) => {
    const { said, left } = read(by, text, 0);
    return { said: spaced(said), left };
  };
}

/** @param {[string, string]} entry @returns {Pattern} */
function pattern([from, into]) {
  const parts = from.split(/\{\w+\}/);
  const order = [...from.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  const letters = parts.join("").replace(/[^A-Za-z]/g, "").length;
  const longest = parts.reduce((one, other) => (other.length > one.length ? other : one));
  return {
    parts,
    longest,
    kept: order.map((name) => into.includes(`{${name}!}`)),
    into,
    order,
    first: FIRST.exec(parts[0])?.[0] ?? null,
    letters,
  };
}

/** @param {string} text @returns {Reading} as it stands */
const english = (text) => ({ said: text, left: text.match(WORD)?.length ?? 0 });

/**
 * What fills a hole: read in its turn, or as it stands.
 * @param {Reader} by
 * @param {string} text
 * @param {boolean} kept
 * @param {number} depth
 * @returns {Reading}
 */
function filled(by, text, kept, depth) {
  const odd = ODD * (text.slice(1).match(ENDS)?.length ?? 0);
  if (kept) return { said: text, left: odd + Math.min(ODD / 2, 0.02 * english(text).left) };
  const { said, left } = read(by, text, depth + 1);
  return { said, left: left + odd };
}

/** The best reading of a text. @param {Reader} by @param {string} text @param {number} depth @returns {Reading} */
function read(by, text, depth) {
  if (Object.hasOwn(by.texts, text)) return { said: by.texts[text], left: 0 };
  const known = by.known.get(text);
  if (known) return known;
  let best = english(text);
  if (best.left === 0 || depth > DEEP) return best;
  best = bracketed(by, text, depth) ?? listed(by, text, depth) ?? best;
  for (const each of candidates(by, text)) {
    if (best.left === 0) break;
    const found = fitted(by, each, text, best.left, depth);
    if (found && found.left < best.left) best = found;
  }
  if (best.left >= ODD) best = joined(by, text, best, depth);
  if (by.known.size > KEPT) by.known.clear();
  by.known.set(text, best);
  return best;
}

/**
 * Patterns that may fit, those that begin with a word first, then those with most words.
 * @param {Reader} by
 * @param {string} text
 */
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
 * @param {Reader} by
 * @param {Pattern} each
 * @param {string} text
 * @param {number} most
 * @param {number} depth
 * @returns {Reading | null}
 */
function fitted(by, { parts, longest, kept, into, order }, text, most, depth) {
  const last = parts.length - 1;
  if (!text.includes(longest) || !text.startsWith(parts[0]) || !text.endsWith(parts[last])) return null;
  const end = text.length - parts[last].length;
  /** @type {string[]} */
  const values = [];
  /** @type {string[] | null} */
  let best = null;
  let least = most;
  /** @param {number} at where the hole begins @param {number} hole @param {number} left words of English so far */
  const walk = (at, hole, left) => {
    const next = parts[hole + 1];
    for (const stop of hole === last - 1 ? [end] : stops(by, text, at, end, next)) {
      if (stop < at || left >= least) return;
      const each = filled(by, text.slice(at, stop), kept[hole], depth);
      values[hole] = each.said;
      if (left + each.left >= least) continue;
      if (hole < last - 1) walk(stop + next.length, hole + 1, left + each.left);
      else {
        least = left + each.left;
        best = [...values];
      }
    }
  };
  walk(parts[0].length, 0, 0);
  if (!best) return null;
  const said = into.replace(/\{(\w+)!?\}/g, (hole, name) =>
    order.includes(name) ? /** @type {string[]} */ (best)[order.indexOf(name)] : hole,
  );
  return { said, left: least };
}

/**
 * Where a hole may end: before what follows it; where that is another hole, before something that is put at the end of
 * texts.
 * @param {Reader} by
 * @param {string} text
 * @param {number} at
 * @param {number} end
 * @param {string} next
 */
function stops(by, text, at, end, next) {
  const found = [];
  if (next)
    for (let stop = text.indexOf(next, at); stop >= 0 && stop + next.length <= end; stop = text.indexOf(next, stop + 1))
      found.push(stop);
  else
    for (let stop = at; stop <= end; stop++)
      if (stop === at || stop === end || by.tails.some((tail) => text.startsWith(tail, stop))) found.push(stop);
  return found;
}

/**
 * A text as two that stand side by side, where that is better.
 * @param {Reader} by
 * @param {string} text
 * @param {Reading} best
 * @param {number} depth
 */
function joined(by, text, best, depth) {
  if (LANE.test(text)) {
    const name = read(by, text.slice(2), depth + 1);
    if (name.left < best.left) best = { said: `${text.slice(0, 2)}${name.said}`, left: name.left };
  }
  for (const [joint, other] of JOINTS) {
    let tries = TRIES;
    for (
      let at = text.indexOf(joint, 1);
      at > 0 && at + joint.length < text.length && tries-- > 0;
      at = text.indexOf(joint, at + 1)
    ) {
      const [said, left] = side(by, text, at, joint, other, depth);
      if (left < best.left) best = { said, left };
      if (best.left === 0) return best;
    }
  }
  return tailed(by, text, best, depth);
}

/**
 * A text with something put at its end that brings no joint: "rank 1 was lost in op 2F3".
 * @param {Reader} by
 * @param {string} text
 * @param {Reading} best
 * @param {number} depth
 */
function tailed(by, text, best, depth) {
  for (const tail of by.tails) {
    const at = /^ \w/.test(tail) ? text.lastIndexOf(tail) : 0;
    if (at <= 0) continue;
    const [before, after] = [read(by, text.slice(0, at), depth + 1), read(by, text.slice(at), depth + 1)];
    if (before.left + after.left < best.left)
      best = { said: `${before.said}，${after.said}`, left: before.left + after.left };
  }
  return best;
}

/**
 * What stands in brackets at the end of a text.
 * @param {Reader} by
 * @param {string} text
 * @param {number} depth
 * @returns {Reading | null}
 */
function bracketed(by, text, depth) {
  if (!text.startsWith(" (") || !text.endsWith(")")) return null;
  const { said, left } = read(by, text.slice(2, -1), depth + 1);
  return { said: `（${said}）`, left };
}

/**
 * A text as a list, where all of it can be read so, item by item.
 * @param {Reader} by
 * @param {string} text
 * @param {number} depth
 * @returns {Reading | null}
 */
function listed(by, text, depth) {
  for (const [joint, other] of JOINTS) {
    const at = text.indexOf(joint, 1);
    if (at < 0 || !HAS_WORD.test(text.slice(0, at)) || !HAS_WORD.test(text.slice(at + joint.length))) continue;
    if (phrase(by, text.slice(0, joint === ". " ? at + 1 : at), depth).left > 0) continue;
    const [said, left] = side(by, text, at, joint, other, depth);
    if (left === 0) return { said, left };
  }
  return null;
}

/**
 * @param {Reader} by
 * @param {string} text
 * @param {number} at where the joint is
 * @param {string} joint
 * @param {string} other the joint in the other language
 * @param {number} depth
 * @returns {[string, number]}
 */
function side(by, text, at, joint, other, depth) {
  const before = phrase(by, text.slice(0, joint === ". " ? at + 1 : at), depth);
  const after = phrase(by, text.slice(at + joint.length), depth);
  // such as ", which was sent", which brings its own joint
  const more = read(by, text.slice(joint === ". " ? at + 1 : at), depth + 1);
  if (more.left < after.left) return [before.said + more.said, before.left + more.left];
  return [before.said + (joint === ". " ? "" : other) + after.said, before.left + after.left];
}

/**
 * A part of a text; its full stop may be none of the sentence's own.
 * @param {Reader} by
 * @param {string} part
 * @param {number} depth
 */
function phrase(by, part, depth) {
  const found = read(by, part, depth + 1);
  if (found.left === 0 || !part.endsWith(".")) return found;
  const bare = read(by, part.slice(0, -1), depth + 1);
  return bare.left < found.left ? { said: `${bare.said}。`, left: bare.left } : found;
}

const HAN = "\\u3400-\\u9fff";
const WIDE = `${HAN}\\u3001\\u3002\\uff08-\\uff1f`; // with the punctuation, which brings its own space
const BEFORE = new RegExp(`([${HAN}])([A-Za-z0-9(])`, "g");
const AFTER = new RegExp(`([A-Za-z0-9)%])([${HAN}])`, "g");
const BETWEEN = new RegExp(
  `(?<=[${WIDE}]) +(?=[${WIDE}])|(?<=[\\u3001\\u3002\\uff08-\\uff1f]) +| +(?=[\\u3001\\u3002\\uff08-\\uff1f])`,
  "g",
);

/**
 * Chinese and Latin letters or numbers have a space between them, Chinese and Chinese have none.
 * @param {string} text
 */
const spaced = (text) => text.replace(BEFORE, "$1 $2").replace(AFTER, "$1 $2").replace(BETWEEN, "");
