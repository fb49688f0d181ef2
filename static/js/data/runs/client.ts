// The runs of the server: start, open, watch and cancel them. A run is watched by a socket from where it was opened.
import { hasServer } from "../../ui/dom.ts";
import { Offline, Refusal, getBytes, getJson, postJson, waits } from "../api.ts";
import { decodeRows, noRows, type EncodedRows, type RowFields, type RunRows } from "../../core/measured/rows.ts";
import { t, type Message } from "../../core/i18n/language.ts";
import { decode } from "../../core/schedule/wire.ts";
import type { Spec, SpecError } from "../../core/schedule/types.ts";
import type { Calibration } from "../../core/measured/calibration.ts";
import type { Clock, Link } from "../../core/measured/cluster.ts";
import type { Devices } from "../../core/measured/devices.ts";
import type { Socket } from "socket.io-client";

/**
 * Of a run besides its schedule: mode auto, paced or free; device auto, cpu or cuda; on a cluster also spread pack or
 * spread, arrange given or latency, hops given or measured.
 */
export type ChosenOptions = {
  mode: string;
  unit_ms: number | null;
  dtype: string;
  device: string;
  steps: number;
  seed: number;
  spread?: string;
  arrange?: string;
  hops?: string;
};
/** Why a run failed, and in which rank and op where that is known. */
type RunFailure = Message & { kind: string; rank: number | null; op: string | null };
export type Run = {
  id: string;
  name?: string;
  mine?: boolean; // whether this reader may rename, cancel and delete it
  status: "queued" | "warming" | "running" | "verified" | "finished" | "failed" | "cancelled";
  position: number | null;
  spec: Spec;
  mode: string | null;
  device: string | null;
  unit_ms: number | null;
  overlapped: boolean | null;
  t0_unix_ns?: number;
  seq: number;
  fields?: RowFields; // of its rows
  predicted: any;
  measured: any;
  verified: boolean | null;
  max_grad_error: number | null;
  largest_residual: { rank: number; op: string; ns: number } | null;
  failure: RunFailure | null;
  activations?: { peak_bytes: number[]; peak_bytes_without_offload?: number[] } | null; // by rank
  weight_versions?: number[] | null; // by rank
  unkept?: Message | string | null; // why the server cannot store it
  slowest?: { rank: number; busy: number; planned: number } | null; // rank; ns and time units of its ops
  idle?: Record<string, number[]> | null; // ns by rank and cause
  asked?: ChosenOptions | null; // null of an imported one
  why?: Message | string | null; // why it has this mode
  tolerance?: number | null; // the largest error of its gradients that counts as rounding
  /**
   * at the measured costs of its ops, in the plan's unit; replayed: with the measured time of each op, which old runs
   * lack
   */
  calibrated?: {
    predicted: { makespan: number };
    error: number;
    replayed?: { makespan: number; error: number };
  } | null;
  losses?: (number | null)[] | null; // of each training step
  over_plan?: number | null; // of a paced run: by which share it took longer than planned
  too_busy?: { over: number; ranks: number[]; late_start: number; overrun: number } | null; // where that is much
  loss?: number | null;
  reference_loss?: number | null; // of the same model without a pipeline
  instrumentation?: { op_ns: number; share: number } | null; // tracing overhead per op, and share of the step
  estimate_s?: number; // how long it was expected to take when it was queued, in seconds
  /** of a long run; verifying: the step that the reference trains */
  progress?: { phase: "warming" | "running" | "verifying"; step: number; steps: number } | null;
  waiting?: Message | string; // for which resources, while there are not enough for it to start
  notice?: Message | string; // what the server tells about a run in progress: that it stops soon
  hosts?: string[] | null; // by rank, of a run on a cluster
  clocks?: Clock[] | null;
  links?: Link[] | null;
  notes?: (Message | string)[]; // of an imported run: how far its times can be trusted
};
export type ListedRun = Run & { created: number; name: string };
type RunWatcher = {
  update: (run: Run, rows: RunRows) => void; // the run so far, and its new ops and copies
  failed: (problem: Error) => void;
  lost: (lost: boolean) => void; // the connection, or that it is back
  details: (rows: RunRows) => void; // new bytes and messages
};

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

/** Whether this reader may rename, cancel and delete a run. */
export const mayChange = ({ mine }: Run) => mine !== false;

export const isOver = (run: Run) => OVER.has(run.status);

export const startRun = (spec: Spec, options: ChosenOptions) => postJson("/api/runs", { spec, ...options });

/** The schedule of a run with the measured costs of its ops. */
export const getCalibration = (id: string): Promise<Calibration> => getJson(`${pathOf(id)}/calibration`);

/** The devices for runs. */
export const getDevices = (): Promise<Devices> => getJson("/api/devices");

/** The order that a run executes. */
export const getRunOrder = async (id: string) => decode(await getBytes(`${pathOf(id)}/order`));

/** The address of a run as a file. */
export const fileOf = (id: string, format: "chrome-trace" | "json") => `${pathOf(id)}/export?format=${format}`;

export const cancelRun = (id: string) => postJson(`${pathOf(id)}/cancel`, {});

let socket: Promise<Socket> | null = null;

/** The page's socket, which is opened when a run, a search or the cluster is first watched. */
export function connect() {
  if (!hasServer) return new Promise<Socket>(() => {}); // what would wait for it has been refused before
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

/** Connect again when the server, which has refused the connection, allows it: the library itself would not. */
function connectLater(line: Socket, problem: Error & { data?: { error?: SpecError } }) {
  const error = problem.data?.error;
  if (!error || line.active) return;
  const refusal = new Refusal(error, 429, Number(error.params?.seconds) || REFUSED_S);
  waits(refusal);
  setTimeout(() => line.connect(), 1000 * (refusal.retryAfter as number));
}

/** The socket, once the server gives its library. */
async function connectEventually(watch: Watch) {
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

/** over: stopped; wanted: bytes and messages too. */
type Watch = RunWatcher & { over: boolean; wanted: boolean };

/**
 * Open a run and follow it to its end, through lost connections and restarts of the server. `more` requests bytes and
 * messages as well, which are twice as much as the ops.
 */
export function watchRun(id: string, watcher: RunWatcher) {
  const watch: Watch = { ...watcher, over: false, wanted: false };
  let release = () => {};
  let askAgain = (_since: number) => {};

  async function open() {
    connect().catch(() => {}); // in parallel with the request; follow() waits for it
    const run: Run & EncodedRows = await getJson(`${pathOf(id)}?rows=ops,copies`);
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

/** Show the state of a run that is over once it has been stored, so that nothing shown is older. */
function lookAgain(id: string, watch: Watch) {
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

async function follow(first: Run, watch: Watch) {
  let run = first;
  const { id } = run;
  const line = await connectEventually(watch);
  const ask = (since = run.seq) => {
    watch.lost(false);
    const rows = watch.wanted ? "ops,copies,bytes,messages" : "ops,copies";
    line.emit("watch", { run: id, since: Math.min(since, run.seq), rows }, (answer: any) => {
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

  function take(message: any) {
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

const pathOf = (id: string) => `/api/runs/${encodeURIComponent(id)}`;

function merge(run: Run, message: any): Run {
  const facts = Object.entries(message).filter(
    ([key]) => (key in run && !ROWS.has(key) && key !== "id") || NEW.has(key),
  );
  if (message.event === "waiting") return { ...run, ...Object.fromEntries(facts), status: "warming", position: null };
  if (message.event === "progress") return { ...run, ...Object.fromEntries(facts), progress: message.progress };
  const status = ["op_batch", "notice"].includes(message.event) ? run.status : message.event;
  return { ...run, ...Object.fromEntries(facts), status };
}
