// The runs of the server: start, open, watch and cancel them. A run is watched by a socket from where it was opened.
import { Offline, Refusal, getBytes, getJson, postJson, waits } from "../api.js";
import { decodeRows, noRows } from "../../core/measured/rows.js";
import { t } from "../../core/i18n/language.js";
import { decode } from "../../core/schedule/wire.js";

/** @import {EncodedRows, RowFields, RunRows} from "../../core/measured/rows.js" */
/** @import {Message} from "../../core/i18n/language.js" */
/** @import {Spec} from "../../core/schedule/types.js" */
/** @import {Calibration} from "../../core/measured/calibration.js" */
/** @import {Clock, Link} from "../../core/measured/cluster.js" */
/** @import {Devices} from "../../core/measured/devices.js" */
/**
 * @typedef {{mode: string, unit_ms: number | null, dtype: string, device: string, steps: number, seed: number, spread?:
 *   string, arrange?: string, hops?: string}} ChosenOptions of a run besides its schedule: mode auto, paced or free;
 *   device auto, cpu or cuda; on a cluster also spread pack or spread, arrange given or latency, hops given or measured
 */
/**
 * @typedef {Message & {kind: string, rank: number | null, op: string | null}} RunFailure why a run failed, and in which
 *   rank and op where that is known
 */
/**
 * @typedef {object} Run
 * @property {string} id
 * @property {string} [name]
 * @property {boolean} [mine]  whether this reader may rename, cancel and delete it
 * @property {"queued" | "warming" | "running" | "verified" | "finished" | "failed" | "cancelled"} status
 * @property {number | null} position
 * @property {Spec} spec
 * @property {string | null} mode
 * @property {string | null} device
 * @property {number | null} unit_ms
 * @property {boolean | null} overlapped
 * @property {number} [t0_unix_ns]
 * @property {number} seq
 * @property {RowFields} [fields]  of its rows
 * @property {any} predicted
 * @property {any} measured
 * @property {boolean | null} verified
 * @property {number | null} max_grad_error
 * @property {{rank: number, op: string, ns: number} | null} largest_residual
 * @property {RunFailure | null} failure
 * @property {{peak_bytes: number[], peak_bytes_without_offload?: number[]} | null} [activations] by rank
 * @property {number[] | null} [weight_versions] by rank
 * @property {Message | string | null} [unkept] why the server cannot store it
 * @property {{rank: number, busy: number, planned: number} | null} [slowest] rank; ns and time units of its ops
 * @property {Record<string, number[]> | null} [idle] ns by rank and cause
 * @property {ChosenOptions | null} [asked] null of an imported one
 * @property {Message | string | null} [why] why it has this mode
 * @property {number | null} [tolerance] the largest error of its gradients that counts as rounding
 * @property {{predicted: {makespan: number}, error: number, replayed?: {makespan: number, error: number}} | null}
 *   [calibrated] at the measured costs of its ops, in the plan's unit; replayed: with the measured time of each op,
 *   which old runs lack
 * @property {(number | null)[] | null} [losses] of each training step
 * @property {number | null} [over_plan] of a paced run: by which share it took longer than planned
 * @property {{over: number, ranks: number[], late_start: number, overrun: number} | null} [too_busy] where that is much
 * @property {number | null} [loss]
 * @property {number | null} [reference_loss] of the same model without a pipeline
 * @property {{op_ns: number, share: number} | null} [instrumentation] tracing overhead per op, and share of the step
 * @property {number} [estimate_s] how long it was expected to take when it was queued, in seconds
 * @property {{phase: "warming" | "running" | "verifying", step: number, steps: number} | null} [progress] of
 *   a long run; verifying: the step that the reference trains
 * @property {Message | string} [waiting] for which resources, while there are not enough for it to start
 * @property {Message | string} [notice] what the server tells about a run in progress: that it stops soon
 * @property {string[] | null} [hosts] by rank, of a run on a cluster
 * @property {Clock[] | null} [clocks]
 * @property {Link[] | null} [links]
 * @property {(Message | string)[]} [notes] of an imported run: how far its times can be trusted
 */
/** @typedef {Run & {created: number, name: string}} ListedRun */
/**
 * @typedef {object} RunWatcher
 * @property {(run: Run, rows: RunRows) => void} update  the run so far, and its new ops and copies
 * @property {(problem: Error) => void} failed
 * @property {(lost: boolean) => void} lost  the connection, or that it is back
 * @property {(rows: RunRows) => void} details  new bytes and messages
 */

const OVER = new Set(["finished", "failed", "cancelled"]);
// what events may bring that a run does not have from the start
const NEW = new Set([
  "t0_unix_ns",
  "waiting",
  "notice",
  "hosts",
  "clocks",
  "links",
  "fields",
  "notes",
  "over_plan",
  "too_busy",
]);
const ROWS = new Set(["ops", "copies", "bytes", "messages"]);
const RETRY_MS = 3000; // until what failed is requested again
const REFUSED_S = 5; // until a refused connection is tried again where the server names no time
const STORED_MS = [300, 3000]; // after the end of a run the server has stored it, or found that it cannot: two looks

/** Whether this reader may rename, cancel and delete a run. @param {Run} run */
export const mayChange = ({ mine }) => mine !== false;

/** @param {Run} run */
export const isOver = (run) => OVER.has(run.status);

/** @param {Spec} spec @param {ChosenOptions} options */
export const startRun = (spec, options) => postJson("/api/runs", { spec, ...options });

/** The schedule of a run with the measured costs of its ops. @param {string} id @returns {Promise<Calibration>} */
export const getCalibration = (id) => getJson(`${pathOf(id)}/calibration`);

/** The devices for runs. @returns {Promise<Devices>} */
export const getDevices = () => getJson("/api/devices");

/** The order that a run executes. @param {string} id */
export const getRunOrder = async (id) => decode(await getBytes(`${pathOf(id)}/order`));

/** The address of a run as a file. @param {string} id @param {"chrome-trace" | "json"} format */
export const fileOf = (id, format) => `${pathOf(id)}/export?format=${format}`;

/** @param {string} id */
export const cancelRun = (id) => postJson(`${pathOf(id)}/cancel`, {});

/** @type {Promise<import("socket.io-client").Socket> | null} */
let socket = null;

/** The page's socket, which is opened when a run, a search or the cluster is first watched. */
export function connect() {
  socket ??= import("../../../vendor/socket.io.esm.min.js").then(
    ({ io }) => {
      const line = io({ transports: ["websocket", "polling"] });
      line.on("connect_error", (problem) => connectLater(line, problem));
      return line;
    },
    (problem) => {
      socket = null; // the server went away before the client library was loaded: the next caller tries again
      throw problem;
    },
  );
  return socket;
}

/**
 * Connect again when the server, which has refused the connection, allows it: the library itself would not.
 * @param {import("socket.io-client").Socket} line
 * @param {Error & {data?: {error?: import("../../core/schedule/types.js").SpecError}}} problem
 */
function connectLater(line, problem) {
  const error = problem.data?.error;
  if (!error || line.active) return;
  const refusal = new Refusal(error, 429, Number(error.params?.seconds) || REFUSED_S);
  waits(refusal);
  setTimeout(() => line.connect(), 1000 * /** @type {number} */ (refusal.retryAfter));
}

/** The socket, once the server gives its library. @param {Watch} watch */
async function connectEventually(watch) {
  for (;;) {
    try {
      return await connect();
    } catch (problem) {
      if (watch.over) throw problem;
      watch.lost(true);
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}

/** @typedef {RunWatcher & {over: boolean, wanted: boolean}} Watch  over: stopped; wanted: bytes and messages too */

/**
 * Open a run and follow it to its end, through lost connections and restarts of the server. `more` requests bytes and
 * messages as well, which are twice as much as the ops.
 * @param {string} id
 * @param {RunWatcher} watcher
 */
export function watchRun(id, watcher) {
  /** @type {Watch} */
  const watch = { ...watcher, over: false, wanted: false };
  let release = () => {};
  let askAgain = (/** @type {number} */ _since) => {};

  async function open() {
    connect().catch(() => {}); // in parallel with the request; follow() waits for it
    /** @type {Run & EncodedRows} */
    const run = await getJson(`${pathOf(id)}?rows=ops,copies`);
    if (watch.over) return;
    watch.update(run, decodeRows(run, run.fields));
    if (isOver(run)) lookAgain(id, watch);
    else ({ release, ask: askAgain } = await follow(run, watch));
    if (watch.over) release();
  }

  /** Request the bytes and messages so far; of a run in progress, the socket brings the others. */
  async function more() {
    if (watch.wanted) return;
    watch.wanted = true;
    await opened;
    const run = await getJson(`${pathOf(id)}?rows=bytes,messages`);
    if (watch.over) return;
    watch.details(decodeRows(run, run.fields));
    if (!isOver(run)) askAgain(run.seq);
  }

  const opened = open();
  opened.catch((problem) => {
    if (!watch.over) watch.failed(problem);
  });
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

/** Show the state of a run that is over once it has been stored, so that nothing shown is older.
 * @param {string} id @param {Watch} watch */
function lookAgain(id, watch) {
  for (const ms of STORED_MS) {
    setTimeout(() => {
      if (watch.over) return;
      getJson(`${pathOf(id)}?rows=none`).then(
        (stored) => {
          if (!watch.over) watch.update(stored, noRows());
        },
        () => {},
      );
    }, ms);
  }
}

/** @param {Run} first @param {Watch} watch */
async function follow(first, watch) {
  let run = first;
  const { id } = run;
  const line = await connectEventually(watch);
  const ask = (since = run.seq) => {
    watch.lost(false);
    const rows = watch.wanted ? "ops,copies,bytes,messages" : "ops,copies";
    line.emit("watch", { run: id, since: Math.min(since, run.seq), rows }, (/** @type {any} */ answer) => {
      if (answer?.error) reload();
    });
  };
  const connected = () => ask();
  const disconnected = () => {
    if (!isOver(run)) watch.lost(true);
  };

  /** Load the state of the run from a server that has been restarted and has fewer entries; the ops stay. */
  async function reload() {
    try {
      run = await getJson(`${pathOf(id)}?rows=none`);
    } catch (problem) {
      if (problem instanceof Offline) return; // it is away again; the next connection asks
      const message = t("The server was restarted and no longer has this run.");
      run = {
        ...run,
        status: "failed",
        failure: { kind: "server", rank: null, op: null, code: "unspecified", params: {}, message },
      };
    }
    if (!watch.over) watch.update(run, noRows());
  }

  /** @param {any} message */
  function take(message) {
    if (message.id !== id || watch.over) return;
    const rows = decodeRows(message, run.fields);
    if (rows.bytes.length || rows.messages.length) watch.details(rows); // also of entries whose ops are here already
    if (message.seq <= run.seq) return;
    run = merge(run, message);
    watch.update(run, rows);
    if (isOver(run)) lookAgain(id, watch);
  }

  line.on("run", take);
  line.on("connect", connected);
  line.on("disconnect", disconnected);
  line.on("connect_error", disconnected); // also before the first connection
  if (line.connected) ask();
  return {
    ask,
    release: () => {
      line.off("run", take);
      line.off("connect", connected);
      line.off("disconnect", disconnected);
      line.off("connect_error", disconnected);
      line.emit("unwatch", { run: id });
    },
  };
}

/** @param {string} id */
const pathOf = (id) => `/api/runs/${encodeURIComponent(id)}`;

/** @param {Run} run @param {any} message @returns {Run} */
function merge(run, message) {
  const facts = Object.entries(message).filter(
    ([key]) => (key in run && !ROWS.has(key) && key !== "id") || NEW.has(key),
  );
  if (message.event === "waiting") return { ...run, ...Object.fromEntries(facts), status: "warming", position: null };
  if (message.event === "progress") return { ...run, ...Object.fromEntries(facts), progress: message.progress };
  const status = ["op_batch", "notice"].includes(message.event) ? run.status : message.event;
  return { ...run, ...Object.fromEntries(facts), status };
}
