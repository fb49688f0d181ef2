// The events of a trace that an import needs: a profiler's file is mostly kernels and memory, and only ranges named
// after ops count. The server checks whether they are a schedule.

const OP = /^(PP:)?[\d(]|^(Forward|Backward) \d/; // 2F0, (0F7;7B3)OVERLAP_F_B, and as torch's profiler names them
const FSDP = /^(FSDP::|FullyShardedDataParallel\.)/; // counted by the server
const COLLECTIVES = /[nrh]ccl/i; // in the names of kernels: NCCL, RCCL, HCCL
const KEPT = ["deviceProperties", "otherData", "distributedInfo", "baseTimeNanoseconds"];
/** Categories of torch's profiler in which no ranges of one's own are. */
const NOT_RANGES = /^(cpu_op|python_function|cuda_|gpu_mem|overhead|ac2g|fwdbwd|Trace$)/;

/**
 * The trace without the events that no import reads, and how many it had; other data unchanged. own: ops have names of
 * one's own, so that every range is kept.
 */
export function slim(trace: any, own = false): any {
  const events = Array.isArray(trace) ? trace : trace?.traceEvents;
  if (!Array.isArray(events)) return trace;
  const streams = new Map<string, any>();
  const wanted: any[] = [];
  for (const event of events) {
    if (typeof event !== "object" || event === null || ["M", "B", "E", "b", "e"].includes(event.ph)) wanted.push(event);
    else if (event.cat === "kernel") addKernel(streams, event);
    else if (event.ph !== "X" || typeof event.name !== "string") continue;
    else if (own ? !NOT_RANGES.test(event.cat ?? "") : OP.test(event.name)) wanted.push(event);
    else if (event.args?.mb_id !== undefined || event.args?.step !== undefined)
      wanted.push(event); // a timeline
    else if (FSDP.test(event.name)) wanted.push({ ph: "X", name: event.name, ...(event.cat && { cat: event.cat }) });
  }
  wanted.push(...streams.values());
  const about = Array.isArray(trace)
    ? {}
    : Object.fromEntries(KEPT.filter((key) => key in trace).map((key) => [key, trace[key]]));
  if (wanted.length < events.length) about.eventCount = events.length;
  return { ...about, traceEvents: wanted };
}

/**
 * Add a kernel to the one that stands for all those of its stream, of which only the time that is not communication
 * counts: it tells which stream computes.
 */
function addKernel(streams: Map<string, any>, { pid, tid, name, dur }: any) {
  const key = JSON.stringify([pid, tid]);
  const sum = streams.get(key) ?? { ph: "X", cat: "kernel", name: "all", pid, tid, dur: 0 };
  if (typeof dur === "number" && dur > 0 && !COLLECTIVES.test(String(name))) sum.dur += dur;
  streams.set(key, sum);
}

/** Is this the text of a trace rather than of an order? */
export const looksLikeTrace = (text: string) => /^\s*[[{]/.test(text);
