// Orders from the server: kept, fetched ahead while idle, and never fetched twice. Bounded by ops, oldest out first.
import { Offline, Refusal, getSchedule } from "./api.js";
import { decode } from "../core/schedule/wire.js";

/** @import {Schedule, SpecError} from "../core/schedule/types.js" */
/** @typedef {{schedule: Schedule, error: null} | {schedule: null, error: SpecError}} Answer */

const LIMIT_OPS = 12_000_000;
const LIMIT_ANSWERS = 1200;
const AHEAD = 3; // fetches ahead at a time

/** @type {Map<string, Answer>} */
const kept = new Map();
/** @type {Map<string, Promise<Answer>>} */
const underway = new Map();
let keptOps = 0;
/** @type {string[]} */
let ahead = [];
let aheadRunning = 0;
let urgent = 0;

/** The answer if it is here already. @param {string} query */
export function known(query) {
  const answer = kept.get(query);
  if (answer) {
    // the youngest is last
    kept.delete(query);
    kept.set(query, answer);
  }
  return answer;
}

/** @param {string} query @param {Answer} answer */
function keep(query, answer) {
  if (kept.has(query)) return;
  kept.set(query, answer);
  keptOps += answer.schedule?.count ?? 0;
  for (const [oldest, old] of kept) {
    if ((keptOps <= LIMIT_OPS && kept.size <= LIMIT_ANSWERS) || oldest === query) break;
    kept.delete(oldest);
    keptOps -= old.schedule?.count ?? 0;
  }
}

/** An order that came another way than by being asked for. @param {string} query @param {Schedule} schedule */
export const keepOrder = (query, schedule) => keep(query, { schedule, error: null });

/**
 * @param {string} query
 * @param {{signal?: AbortSignal, priority?: "high" | "low"}} options
 * @returns {Promise<Answer>}
 */
async function load(query, options) {
  /** @type {Answer} */
  let answer;
  try {
    answer = { schedule: decode(await getSchedule(query, options)), error: null };
  } catch (problem) {
    if (!(problem instanceof Refusal)) throw problem;
    if (problem.status === 429 || problem.status >= 500) throw new Offline();
    answer = { schedule: null, error: problem.error };
  }
  keep(query, answer);
  return answer;
}

/** @param {string} query @param {{signal?: AbortSignal, priority?: "high" | "low"}} options */
function fetchOnce(query, options) {
  let promise = underway.get(query);
  if (!promise) {
    const mine = load(query, options);
    promise = mine;
    underway.set(query, mine);
    const forget = () => {
      if (underway.get(query) === mine) underway.delete(query);
    };
    options.signal?.addEventListener("abort", forget);
    mine.then(forget, forget);
  }
  return promise;
}

/** For the screen, now. @param {string} query @param {AbortSignal} signal @returns {Promise<Answer>} */
export async function order(query, signal) {
  const here = known(query);
  if (here) return here;
  urgent++;
  try {
    return await fetchOnce(query, { signal, priority: "high" });
  } finally {
    urgent--;
    pump();
  }
}

/** What the reader may ask for next, most likely first. Replaces what was guessed before. @param {string[]} queries */
export function fetchAhead(queries) {
  ahead = queries.filter((query) => !kept.has(query) && !underway.has(query));
  pump();
}

function pump() {
  while (!urgent && aheadRunning < AHEAD && ahead.length) {
    const query = /** @type {string} */ (ahead.shift());
    if (kept.has(query) || underway.has(query)) continue;
    aheadRunning++;
    fetchOnce(query, { priority: "low" })
      .catch(() => {
        ahead = [];
      })
      .finally(() => {
        aheadRunning--;
        pump();
      });
  }
}
