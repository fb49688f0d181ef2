// One run watched: what the server said so far, and the socket that brings the rest. Knows no screen.
import { Offline, getJson, postJson } from "../api.js";
import { t } from "../../core/i18n/language.js";

/** @import {Spec, SpecError} from "../../core/schedule/types.js" */
/** @import {DetailRows} from "../../core/measured/run_details.js" */
/**
 * @typedef {{mode: string, unit_ms: number | null, dtype: string, device: string, steps: number, seed: number, spread?:
 *   string, arrange?: string, hops?: string}} Asked what is chosen for a run besides its schedule: mode auto, paced or
 *   free; device auto, cpu or cuda; on a cluster also spread pack or spread, arrange given or latency, hops given or
 *   measured
 */
/**
 * @typedef {[rank: number, index: number, ready: number, start: number, end: number, wait: number]} OpRow ns since t0
 */
/**
 * @typedef {object} Run
 * @property {string} id
 * @property {string} [name]
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
 * @property {{peak_bytes: number[], peak_bytes_without_offload?: number[]} | null} [activations] by rank
 * @property {number[] | null} [weight_versions] by rank
 * @property {string | null} [unkept] why the server cannot keep it
 * @property {{rank: number, busy: number, planned: number} | null} [slowest] rank; ns and time units of its ops
 * @property {Record<string, number[]> | null} [idle] ns by rank of what was waited for
 * @property {Asked | null} [asked] null of one from elsewhere
 * @property {string | null} [why] why it has this mode
 * @property {number | null} [tolerance] the largest error of its gradients that counts as rounding
 * @property {{predicted: {makespan: number}, error: number, replayed?: {makespan: number, error: number}} | null}
 *   [calibrated] at the costs that its ops had, in the plan's unit; replayed: with each op's own time, which runs of
 *   before do not have
 * @property {(number | null)[] | null} [losses] of each training step
 * @property {{op_ns: number, share: number} | null} [instrumentation] what noting an op costs, and the share of the
 *   step that it makes
 * @property {string} [waiting] for which resources, while there are not enough for it to start
 * @property {string[] | null} [hosts] by rank, of a run on a cluster
 * @property {import("../../core/measured/cluster.js").Clock[] | null} [clocks]
 * @property {import("../../core/measured/cluster.js").Link[] | null} [links]
 * @property {string[]} [notes] of an imported run: how far its times can be trusted
 */
/** @typedef {(run: Run, rows: OpRow[]) => void} Watcher  the run so far, and the ops that are new */

const OVER = new Set(["finished", "failed", "cancelled"]);
// what events may bring that a run has not from the start
const NEW = new Set(["t0_unix_ns", "waiting", "hosts", "clocks", "links"]);
const RETRY_MS = 3000; // until bytes and messages are asked for again that did not come
const SETTLED_MS = 300; // after the end of a run the server has written it down, or has found that it cannot

/** @param {Run} run */
export const isOver = (run) => OVER.has(run.status);

/** @param {Spec} spec @param {Asked} asked */
export const startRun = (spec, asked) => postJson("/api/runs", { spec, ...asked });

/** @typedef {import("../../core/measured/calibration.js").Calibration} Calibration */
/** @typedef {import("../../core/measured/devices.js").Devices} Devices */
/** The schedule of a run with the costs that its ops had. @param {string} id @returns {Promise<Calibration>} */
export const askCalibration = (id) => getJson(`${pathOf(id)}/calibration`);

/** What there is to run on. @returns {Promise<Devices>} */
export const askDevices = () => getJson("/api/devices");

/** The address of a run as a file. @param {string} id @param {"chrome-trace" | "json"} format */
export const fileOf = (id, format) => `${pathOf(id)}/export?format=${format}`;

/** @param {string} id */
export const cancelRun = (id) => postJson(`/api/runs/${encodeURIComponent(id)}/cancel`, {});

/** @type {Promise<import("socket.io-client").Socket> | null} */
let socket = null;

/** The socket is asked for when the first run is watched, or the first search begun, never before. */
export function connect() {
  socket ??= import("../../../vendor/socket.io.esm.min.js").then(({ io }) =>
    io({ transports: ["websocket", "polling"] }),
  );
  return socket;
}

/**
 * @typedef {{watcher: Watcher, failed: (problem: Error) => void, lost: (lost: boolean) => void, details: (rows:
 *   DetailRows) => void, over: boolean, wanted: boolean}} Watch over: nobody watches any more; wanted: bytes and
 *   messages too
 */

/**
 * Open a run and follow it to its end, through lost connections and servers that were started anew; `more` asks for
 * bytes and messages as well, which are twice as much as the ops.
 * @param {string} id
 * @param {Watcher} watcher
 * @param {(problem: Error) => void} failed
 * @param {(lost: boolean) => void} [lost] the connection, or that it is back
 * @param {(rows: DetailRows) => void} [details]
 */
export function watchRun(id, watcher, failed, lost = () => {}, details = () => {}) {
  const watch = { watcher, failed, lost, details, over: false, wanted: false };
  let release = () => {};
  let askAgain = (/** @type {number} */ _since) => {};

  async function open() {
    /** @type {Run} */
    const run = await getJson(`${pathOf(id)}?rows=ops`);
    if (watch.over) return;
    watcher(run, run.ops);
    if (!isOver(run)) ({ release, ask: askAgain } = await follow(run, watch));
    if (watch.over) release();
  }

  /** Those so far; of a run under way the others come from there on. */
  async function more() {
    if (watch.wanted) return;
    watch.wanted = true;
    await opened;
    const found = await getJson(`${pathOf(id)}?rows=bytes,messages`);
    if (watch.over) return;
    details(found);
    if (!isOver(found)) askAgain(found.seq);
  }

  const opened = open();
  opened.catch(failed);
  return {
    stop: () => {
      watch.over = true;
      release();
    },
    more: () => {
      more().catch(() =>
        setTimeout(() => {
          watch.wanted = false;
        }, RETRY_MS),
      );
    },
  };
}

/** @param {Run} first @param {Watch} watch */
async function follow(first, watch) {
  let run = first;
  const { id } = run;
  const line = await connect();
  const ask = (since = run.seq) => {
    watch.lost(false);
    const rows = watch.wanted ? "ops,bytes,messages" : "ops";
    line.emit("watch", { run: id, since: Math.min(since, run.seq), rows }, (/** @type {any} */ answer) => {
      if (answer?.error) again();
    });
  };
  const connected = () => ask();
  const gone = () => {
    if (!isOver(run)) watch.lost(true);
  };

  /**
   * The server knows less of the run than this page: it was started anew. What it says of the run now holds; the ops
   * that were seen stay.
   */
  async function again() {
    try {
      run = await getJson(`${pathOf(id)}?rows=none`);
    } catch (problem) {
      if (problem instanceof Offline) return; // it has gone again; the next connection asks
      run = {
        ...run,
        status: "failed",
        error: { field: "run", value: id, message: t("The server was started anew and no longer knows this run.") },
      };
    }
    if (!watch.over) watch.watcher(run, []);
  }

  /** What is said of the run once it is over, so that nothing shown is older than what is kept. */
  const refresh = () =>
    getJson(`${pathOf(id)}?rows=none`).then(
      (whole) => {
        if (!watch.over) watch.watcher(whole, []);
      },
      () => {},
    );

  /** @param {any} message */
  function take(message) {
    if (message.id !== id || watch.over) return;
    if (message.bytes || message.messages) watch.details(message); // also of entries whose ops are here already
    if (message.seq <= run.seq) return;
    run = merge(run, message);
    watch.watcher(run, message.event === "op_batch" ? message.ops : []);
    if (isOver(run)) setTimeout(refresh, SETTLED_MS);
  }

  line.on("run", take);
  line.on("connect", connected);
  line.on("disconnect", gone);
  line.on("connect_error", gone); // a server that goes before the first connection stands is lost too
  if (line.connected) ask();
  return {
    ask,
    release: () => {
      line.off("run", take);
      line.off("connect", connected);
      line.off("disconnect", gone);
      line.off("connect_error", gone);
      line.emit("unwatch", { run: id });
    },
  };
}

/** @param {string} id */
const pathOf = (id) => `/api/runs/${encodeURIComponent(id)}`;

/** @param {Run} run @param {any} message @returns {Run} */
function merge(run, message) {
  const facts = Object.entries(message).filter(
    ([key]) => (key in run && key !== "ops" && key !== "id") || NEW.has(key),
  );
  if (message.event === "waiting") return { ...run, ...Object.fromEntries(facts), status: "warming", position: null };
  const status = message.event === "op_batch" ? run.status : message.event;
  return { ...run, ...Object.fromEntries(facts), status };
}
