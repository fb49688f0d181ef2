// The events of a trace that an import needs: a profiler's file is mostly kernels and memory, and only ranges named
// after ops count. The server checks whether they are a schedule.

const OP = /^(PP:)?[\d(]/; // 2F0, (0F7;7B3)OVERLAP_F_B, and as torch's profiler names them
const KEPT = ["deviceProperties", "otherData", "distributedInfo", "baseTimeNanoseconds"];

const isOp = (event: any) => event.ph === "X" && typeof event.name === "string" && OP.test(event.name);

/** The trace without the events that no import reads; other data unchanged. */
export function slim(trace: any): any {
  const events = Array.isArray(trace) ? trace : trace?.traceEvents;
  if (!Array.isArray(events)) return trace;
  let kernels = 0; // one is enough: it shows that ops ran on a GPU
  const wanted = events.filter(
    (event) =>
      typeof event !== "object" ||
      event === null ||
      isOp(event) ||
      ["M", "B", "E"].includes(event.ph) ||
      (event.cat === "kernel" && kernels++ === 0),
  );
  const about = Array.isArray(trace)
    ? {}
    : Object.fromEntries(KEPT.filter((key) => key in trace).map((key) => [key, trace[key]]));
  return { ...about, traceEvents: wanted };
}

/** Is this the text of a trace rather than of an order? */
export const looksLikeTrace = (text: string) => /^\s*[[{]/.test(text);
