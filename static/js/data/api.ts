// Requests to the server. Every failure is thrown as a Refusal (the server refused) or Offline (no answer).
import { strFromU8, unzlibSync } from "../../vendor/fflate.js";
import { sentence, hasServer } from "../ui/dom.ts";
import { t, tr } from "../core/i18n/language.ts";
import type { SpecError } from "../core/schedule/types.ts";

/** A request that the server understood and refused. Has a `code`, `params` and a `message`, so tr() translates it. */
export class Refusal extends Error {
  override name: string;
  error: SpecError;
  code: string | undefined;
  params: Record<string, any> | undefined;
  status: number;
  retryAfter: number | null;

  /** retryAfter: s until it may be met. */
  constructor(error: SpecError, status: number, retryAfter: number | null = null) {
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
  override name: string;

  constructor() {
    super(t("The server does not answer."));
    this.name = "Offline";
  }
}

/** Why a request failed, as a sentence: the refusal, or that there was no answer. */
export const whyFailed = (problem: unknown) =>
  problem instanceof Refusal ? sentence(tr(problem)) : t("The server does not answer.");

/**
 * The answers that a page without a server has in it, by their addresses (`site` of the command line writes them); null
 * where there is a server.
 */
const kept: Record<string, unknown> | null = keptAnswers();

function keptAnswers() {
  const packed = (globalThis as { keptAnswers?: string }).keptAnswers;
  if (!packed) return null;
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  return JSON.parse(strFromU8(unzlibSync(bytes)));
}

/** What a page without a server says of everything that needs one; runs: that executes schedules. */
export const needsServer = (runs = false) =>
  new Refusal(
    {
      field: "",
      value: null,
      message: t("This needs a server, which these files are without: start one with {command}.", {
        command: runs ? "uvx 'bubbleline[run]'" : "uvx bubbleline",
      }),
    },
    400,
  );

const RETRY = 3000; // ms between tries of what had no answer
const MOST_TRIES = 4;
const LONGEST_WAIT_S = 60; // a longer one is a reader's decision
let tellWait: (refusal: Refusal) => void = () => {};

/** What asks again, some time after there was no answer, until there is one. */
export function createRetry(again: () => void) {
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

/** Call `tell` whenever the page waits because the server has asked it to. */
export function onWait(tell: (refusal: Refusal) => void) {
  tellWait = tell;
}

/** The server asked the page to wait, and the page will. */
export const waits = (refusal: Refusal) => tellWait(refusal);

/** Reading is repeated after the time that the server names; what changes something is the reader's to repeat. */
async function ask(url: string, init?: RequestInit): Promise<Response> {
  for (let tries = 1; ; tries++) {
    try {
      return await askOnce(url, init);
    } catch (problem) {
      const wait = problem instanceof Refusal ? problem.retryAfter : null;
      if (init?.method || wait === null || wait > LONGEST_WAIT_S || tries === MOST_TRIES) throw problem;
      waits(problem as Refusal);
      await pause(1000 * wait * (1 + Math.random() / 2), init?.signal); // not all pages of a class at once
    }
  }
}

function pause(ms: number, signal?: AbortSignal | null) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

async function askOnce(url: string, init?: RequestInit): Promise<Response> {
  if (kept) {
    if (init?.method || !Object.hasOwn(kept, url)) throw needsServer();
    return new Response(JSON.stringify(kept[url]), { headers: { "Content-Type": "application/json" } });
  }
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

export const getJson = async (path: string) => (await ask(path, { headers: { Accept: "application/json" } })).json();

/**
 * The same for requests that are often refused, as while a reader tries numbers: the server answers refusals with
 * status 200, so that the browser does not log them as failures.
 */
export async function getAnswer(path: string, signal?: AbortSignal) {
  const headers = { Accept: "application/json", Prefer: "handling=lenient" };
  const body = await (await ask(path, { headers, signal })).json();
  if (body.error) throw new Refusal(body.error, 400);
  return body;
}

/** The answer itself, also that of a refusal. */
export async function getResponse(path: string, headers: Record<string, string> = {}) {
  if (!hasServer) throw needsServer();
  return await fetch(path, { headers }).catch(() => {
    throw new Offline();
  });
}

export const getBytes = async (path: string): Promise<ArrayBuffer> => (await ask(path)).arrayBuffer();

export async function postJson(path: string, body: unknown) {
  const headers = { Accept: "application/json", "Content-Type": "application/json" };
  return (await ask(path, { method: "POST", headers, body: JSON.stringify(body) })).json();
}

/** query: with its "?". */
export async function getSchedule(query: string, signal: AbortSignal) {
  // Lenient: the browser does not log an illegal spec as a failed request.
  const headers = { Accept: "application/vnd.bubbleline.schedule", Prefer: "handling=lenient" };
  const response = await ask(`/api/schedule${query}`, { headers, signal });
  if (response.headers.get("Content-Type")?.startsWith("application/json"))
    throw new Refusal((await response.json()).error, 400);
  return response.arrayBuffer();
}

/** Change or delete something; the body of the answer is not read. */
export async function send(method: "PATCH" | "DELETE", path: string, body?: unknown) {
  const headers = { Accept: "application/json", ...(body === undefined ? {} : { "Content-Type": "application/json" }) };
  await ask(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
}
