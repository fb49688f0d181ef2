// Constructs orders that take long in a worker, one after the other. Where there are no workers (a stand-alone file),
// or the worker's sources cannot be had any more, they are constructed in the page: slower, and the same orders.
import { hasServer } from "../../ui/dom.ts";
import { completeOrder } from "../../core/families/base_order.ts";
import type { Schedule, Spec } from "../../core/schedule/types.ts";

type Job = { spec: Spec; resolve: (schedule: Schedule) => void; since: number };

const SOURCE = "/static/vendor/app/js/order_worker.js";
const PATIENCE = 1000; // ms that a job whose order nobody waits for any more may go on

let worker: Worker | null = null;
/** The first one is being done. */
const jobs: Job[] = [];
let broken = !hasServer; // a disk gives no workers

/** The order of a legal spec with everything that its options place in it. */
export function constructAside(spec: Spec, signal: AbortSignal): Promise<Schedule> {
  return new Promise((resolve, reject) => {
    const job = { spec, resolve, since: Infinity };
    signal.addEventListener("abort", () => {
      reject(signal.reason);
      forget(job);
    });
    jobs.push(job);
    if (jobs[0] === job) begin();
  });
}

function forget(job: Job) {
  if (jobs[0] !== job) {
    if (jobs.includes(job)) jobs.splice(jobs.indexOf(job), 1);
  } else if (performance.now() - job.since > PATIENCE) {
    worker?.terminate();
    worker = null;
    finish();
  }
}

/** The first job is over: do the next. */
function finish(schedule?: Schedule) {
  const job = jobs.shift();
  if (schedule) job?.resolve(schedule);
  if (jobs.length) begin();
}

function begin() {
  const [job] = jobs;
  job.since = performance.now();
  const here = open();
  if (here) here.postMessage(job.spec);
  else setTimeout(() => jobs[0] === job && finish(completeOrder(job.spec)));
}

function open() {
  if (worker || broken) return worker;
  try {
    worker = new Worker(SOURCE, { type: "module" });
    worker.onmessage = ({ data }) => finish(data);
    worker.onerror = fail;
  } catch {
    broken = true;
  }
  return worker;
}

function fail() {
  broken = true;
  worker?.terminate();
  worker = null;
  if (jobs.length) begin();
}
