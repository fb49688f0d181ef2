// Requests to the server. Every failure is thrown as a Refusal (the server refused) or Offline (no answer).
import { t } from "../core/i18n/language.js";

/** @import {SpecError} from "../core/schedule/types.js" */

/** A request that the server understood and refused. Has a `code`, `params` and a `message`, so tr() translates it. */
export class Refusal extends Error {
  /** @param {SpecError} error @param {number} status @param {number | null} [retryAfter] s until it may be met */
  constructor(error, status, retryAfter = null) {
    super(error.message);
    this.name = "Refusal";
    this.error = error;
    this.code = error.code;
    this.params = error.params;
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

/** No answer, or one that this page does not understand. */
export class Offline extends Error {
  constructor() {
    super(t("The server does not answer."));
    this.name = "Offline";
  }
}

const RETRY = 3000; // ms between tries of what had no answer
const MOST_TRIES = 4;
const LONGEST_WAIT_S = 60; // a longer one is a reader's decision
/** @type {(refusal: Refusal) => void} */
let tellWait = () => {};

/**
 * What asks again, some time after there was no answer, until there is one.
 * @param {() => void} again
 */
export function createRetry(again) {
  let timer = 0;
  const stop = () => clearTimeout(timer);
  return {
    stop,
    later() {
      stop();
      timer = window.setTimeout(again, RETRY);
    },
  };
}

/** Call `tell` whenever the page waits because the server has asked it to. @param {(refusal: Refusal) => void} tell */
export function onWait(tell) {
  tellWait = tell;
}

/** The server asked the page to wait, and the page will. @param {Refusal} refusal */
export const waits = (refusal) => tellWait(refusal);

/**
 * Reading is repeated after the time that the server names; what changes something is the reader's to repeat.
 * @param {string} url @param {RequestInit} [init] @returns {Promise<Response>}
 */
async function ask(url, init) {
  for (let tries = 1; ; tries++) {
    try {
      return await askOnce(url, init);
    } catch (problem) {
      const wait = problem instanceof Refusal ? problem.retryAfter : null;
      if (init?.method || wait === null || wait > LONGEST_WAIT_S || tries === MOST_TRIES) throw problem;
      waits(/** @type {Refusal} */ (problem));
      await pause(1000 * wait * (1 + Math.random() / 2), init?.signal); // not all pages of a class at once
    }
  }
}

/** @param {number} ms @param {AbortSignal | null} [signal] */
function pause(ms, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

/** @param {string} url @param {RequestInit} [init] @returns {Promise<Response>} */
async function askOnce(url, init) {
  let response;
  try {
    response = await fetch(url, init);
  } catch (problem) {
    if (problem instanceof DOMException && problem.name === "AbortError") throw problem;
    throw new Offline();
  }
  if (response.ok) return response;
  const body = await response.json().catch(() => null);
  if (!body?.error) throw new Offline();
  throw new Refusal(body.error, response.status, Number(response.headers.get("Retry-After")) || null);
}

/** @param {string} path */
export const getJson = async (path) => (await ask(path, { headers: { Accept: "application/json" } })).json();

/** The same for requests that are often refused, as while a reader tries numbers: the server answers refusals with
 * status 200, so that the browser does not log them as failures. @param {string} path @param {AbortSignal} [signal] */
export async function getAnswer(path, signal) {
  const headers = { Accept: "application/json", Prefer: "handling=lenient" };
  const body = await (await ask(path, { headers, signal })).json();
  if (body.error) throw new Refusal(body.error, 400);
  return body;
}

/** @param {string} path @returns {Promise<ArrayBuffer>} */
export const getBytes = async (path) => (await ask(path)).arrayBuffer();

/** @param {string} path @param {unknown} body */
export async function postJson(path, body) {
  const headers = { Accept: "application/json", "Content-Type": "application/json" };
  return (await ask(path, { method: "POST", headers, body: JSON.stringify(body) })).json();
}

/** @param {string} query with its "?" @param {AbortSignal} signal */
export async function getSchedule(query, signal) {
  // Lenient: the browser does not log an illegal spec as a failed request.
  const headers = { Accept: "application/vnd.bubbleline.schedule", Prefer: "handling=lenient" };
  const response = await ask(`/api/schedule${query}`, { headers, signal });
  if (response.headers.get("Content-Type")?.startsWith("application/json"))
    throw new Refusal((await response.json()).error, 400);
  return response.arrayBuffer();
}

/**
 * Change or delete something; the body of the answer is not read.
 * @param {"PATCH" | "DELETE"} method
 * @param {string} path
 * @param {unknown} [body]
 */
export async function send(method, path, body) {
  const headers = { Accept: "application/json", ...(body === undefined ? {} : { "Content-Type": "application/json" }) };
  await ask(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
}
