// One run watched: what the server said so far, and the socket that brings the rest. Knows no screen.
import { getJson, postJson } from "./api.js";

/** @import {Spec} from "./pure/types.js" */
/** @import {SpecError} from "./api.js" */
/** @typedef {[rank: number, index: number, ready: number, start: number, end: number, wait: number]} OpRow  ns since t0 */
/**
 * @typedef {object} Run
 * @property {string} id
 * @property {"queued" | "warming" | "running" | "verified" | "finished" | "failed" | "cancelled"} status
 * @property {number | null} position
 * @property {Spec} spec
 * @property {string | null} mode
 * @property {string | null} device
 * @property {number | null} unit_ms
 * @property {boolean | null} overlapped
 * @property {number} [t0_unix_ns]
 * @property {number} seq
 * @property {OpRow[]} ops
 * @property {any} predicted
 * @property {any} measured
 * @property {boolean | null} verified
 * @property {number | null} max_grad_error
 * @property {{rank: number, op: string, ns: number} | null} largest_residual
 * @property {SpecError | null} error
 * @property {{peak_bytes: number[], peak_bytes_without_offload?: number[]} | null} [activations]  by rank
 * @property {number[] | null} [weight_versions]  by rank
 * @property {string[]} [notes]  of an imported run: how far its times can be trusted
 */
/** @typedef {(run: Run, rows: OpRow[]) => void} Watcher  the run so far, and the ops that are new */

const OVER = new Set(["finished", "failed", "cancelled"]);
/** @param {Run} run */
export const isOver = (run) => OVER.has(run.status);

/** @param {Spec} spec @param {string} mode "auto", "paced" or "free" */
export const startRun = (spec, mode) => postJson("/api/runs", { spec, mode, unit_ms: null });

/** @param {string} id */
export const cancelRun = (id) => postJson(`/api/runs/${encodeURIComponent(id)}/cancel`, {});

/** @type {Promise<import("socket.io-client").Socket> | null} */
let socket = null;

/** The socket is asked for when the first run is watched, or the first search begun, never before. */
export function connect() {
  socket ??= import("../vendor/socket.io.esm.min.js").then(({ io }) => io({ transports: ["websocket", "polling"] }));
  return socket;
}

/**
 * Open a run and follow it to its end. Returns a function that stops watching.
 * @param {string} id @param {Watcher} watcher @param {(problem: Error) => void} failed
 */
export function watchRun(id, watcher, failed) {
  let stopped = false;
  let release = () => {};

  async function open() {
    /** @type {Run} */
    const run = await getJson(`/api/runs/${encodeURIComponent(id)}`);
    if (stopped) return;
    watcher(run, run.ops);
    if (!isOver(run)) release = await follow(run);
    if (stopped) release();
  }

  /** @param {Run} first */
  async function follow(first) {
    let run = first;
    const line = await connect();
    const ask = () => line.emit("watch", { run: id, since: run.seq }, (/** @type {any} */ answer) => {
      if (answer?.error) failed(new Error(answer.error.message));
    });
    /** @param {any} message */
    const take = (message) => {
      if (message.id !== id || message.seq <= run.seq || stopped) return;
      run = merge(run, message);
      watcher(run, message.event === "op_batch" ? message.ops : []);
      if (message.event === "finished") refresh();
    };
    line.on("run", take);
    line.on("connect", ask);
    if (line.connected) ask();
    return () => {
      line.off("run", take);
      line.off("connect", ask);
      line.emit("unwatch", { run: id });
    };
  }

  /** The whole run once it is over, so that nothing shown is older than what is kept. */
  function refresh() {
    getJson(`/api/runs/${encodeURIComponent(id)}`).then((run) => { if (!stopped) watcher(run, []); }, () => {});
  }

  open().catch(failed);
  return () => { stopped = true; release(); };
}

/** @param {Run} run @param {any} message @returns {Run} */
function merge(run, message) {
  const facts = Object.entries(message).filter(([key]) => key in run && key !== "ops" && key !== "id" || key === "t0_unix_ns");
  const status = message.event === "op_batch" ? run.status : message.event;
  return { ...run, ...Object.fromEntries(facts), status };
}
