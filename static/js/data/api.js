// Talks to the server: schedules, families, runs. Turns every failure into a Refusal (the server said no) or Offline.
import { t } from "../core/i18n/language.js";

/** @typedef {{field: string, value: unknown, message: string, limit?: unknown, nearest?: unknown}} SpecError */

/** The server understood and said no. */
export class Refusal extends Error {
  /** @param {SpecError} error @param {number} status */
  constructor(error, status) {
    super(error.message);
    this.name = "Refusal";
    this.error = error;
    this.status = status;
  }
}

/** Nobody answered, or not in a way that this page understands. */
export class Offline extends Error {
  constructor() {
    super(t("The server does not answer."));
    this.name = "Offline";
  }
}

/** @param {string} url @param {RequestInit} [init] @returns {Promise<Response>} */
async function ask(url, init) {
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
  throw new Refusal(body.error, response.status);
}

/** @param {string} path */
export const getJson = async (path) => (await ask(path, { headers: { Accept: "application/json" } })).json();

/** The same for a question that may well be refused, as a reader comes by it while trying numbers: a refusal is then an
 * answer like another, not a failure for the browser to log. @param {string} path */
export async function getAnswer(path) {
  const body = await (await ask(path, { headers: { Accept: "application/json", Prefer: "handling=lenient" } })).json();
  if (body.error) throw new Refusal(body.error, 400);
  return body;
}

/** @param {string} path @param {unknown} body */
export async function postJson(path, body) {
  const headers = { Accept: "application/json", "Content-Type": "application/json" };
  return (await ask(path, { method: "POST", headers, body: JSON.stringify(body) })).json();
}

/** @param {string} query with its "?" @param {{signal?: AbortSignal, priority?: "high" | "low"}} [options] */
export async function getSchedule(query, options = {}) {
  // Lenient: an illegal spec is an answer like another, not a failure for the browser to log.
  const headers = { Accept: "application/vnd.bubbleline.schedule", Prefer: "handling=lenient" };
  const response = await ask(`/api/schedule${query}`, { headers, ...options });
  if (response.headers.get("Content-Type")?.startsWith("application/json"))
    throw new Refusal((await response.json()).error, 400);
  return response.arrayBuffer();
}

/**
 * Change or delete something; what the server says to it is of no interest.
 * @param {"PATCH" | "DELETE"} method
 * @param {string} path
 * @param {unknown} [body]
 */
export async function send(method, path, body) {
  const headers = { Accept: "application/json", ...(body === undefined ? {} : { "Content-Type": "application/json" }) };
  await ask(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
}
