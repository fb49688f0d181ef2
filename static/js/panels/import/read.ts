// Files and pasted texts to import: unzipped, recognized as orders, traces or measured ops, and sent to the server.
import { postJson } from "../../data/api.ts";
import { t } from "../../core/i18n/language.ts";
import { looksLikeTrace, slim } from "../../core/measured/trace_events.ts";
import type { Spec, Text } from "../../core/schedule/types.ts";

/** A file, or what was pasted; base64: of a file that is no text. */
export type Given = { name: string; text: string; base64?: string };
/** How a trace names its ops, "" for the usual names, and the unit of its times. */
export type HowNamed = { names: string; unit: string };
type ImportedOrder = { spec: Spec; dialect: { format: string; letters: string }; notes: Text[] };
type ImportedRun = { id: string; spec: Spec; notes: string[] };

const LARGEST = 512 * 2 ** 20; // bytes of a file; a browser would not take its text

const BINARY = /^(SQLite format 3|PAR1)/; // Nsight's export and tables as Parquet

export async function readFile(file: File): Promise<Given> {
  if (file.size > LARGEST) throw new Error(t("{name} is larger than this page can read.", { name: file.name }));
  const head = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  const packed = head[0] === 0x1f && head[1] === 0x8b;
  const wide = { "255,254": "utf-16le", "254,255": "utf-16be" }[head.join(",")]; // a spreadsheet's "Unicode text"
  let text: string;
  try {
    if (BINARY.test(await file.slice(0, 16).text())) return { name: file.name, text: "", base64: await base64Of(file) };
    text = packed
      ? await new Response(file.stream().pipeThrough(new DecompressionStream("gzip"))).text()
      : wide
        ? new TextDecoder(wide).decode(await file.arrayBuffer())
        : await file.text();
  } catch {
    throw new Error(t("{name} cannot be read.", { name: file.name }));
  }
  if (!text.trim()) throw new Error(t("{name} is empty.", { name: file.name }));
  return { name: file.name, text };
}

const base64Of = (file: File) =>
  new Promise<string>((done, fail) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => done(String(reader.result).replace(/^[^,]*,/, "")));
    reader.addEventListener("error", fail);
    reader.readAsDataURL(file);
  });

/** Whether all of it is traces. */
export const areTraces = (given: Given[]) => given.length > 0 && given.every(({ text }) => looksLikeTrace(text));

/** Whether a file is a table of measured ops, or an export that holds them; no trace, whatever its events say. */
export const isTable = ({ text, base64 }: Given) =>
  base64 !== undefined ||
  (/^[^\n]*\bstart|^[^\n]*\bbegin/i.test(text.trimStart()) &&
    /^[^\n]*,/.test(text.trimStart()) &&
    !/"ph"\s*:/.test(text));

/** Whether a file is an export of Nsight Systems, whose ranges have names and times like a trace's. */
export const isNsight = ({ base64 }: Given) => base64?.startsWith("U1FMaXRl") ?? false; // "SQLite"

/** Whether a text is a command or a script with a training framework's flags, overrides or arguments. */
export const isConfiguration = (text: string) =>
  /--(pipeline|tensor)-model-parallel-|\bmodel\.pipeline_model_parallel|\bparallelism\.pipeline_parallel_degree/.test(
    text,
  );

/** The query of the view that a configuration describes. given: one file. */
export const askView = async ([{ text }]: Given[]): Promise<{ query: string; notes: Text[] }> =>
  postJson("/api/configurations", { text });

/** given: one file. */
export async function askOrder(given: Given[]): Promise<ImportedOrder> {
  if (given.length > 1) throw new Error(t("torch's CSV is one file for all ranks; traces may be one file for each."));
  return postJson("/api/orders", { csv: given[0].text });
}

/** The files as the server reads them: of large traces only what may be an op. */
export const filesOf = (given: Given[], own: boolean) =>
  given.map(({ name, text, base64 }) => {
    if (base64 !== undefined) return { name, base64 };
    if (!looksLikeTrace(text)) return { name, text };
    try {
      return { name, text: JSON.stringify(slim(JSON.parse(text), own)) };
    } catch {
      return { name, text }; // one object a line, or no JSON: the server says what is wrong
    }
  });

/** given: one for all ranks, or one for each. */
export async function askRun(given: Given[], { names, unit }: HowNamed): Promise<ImportedRun> {
  const traces = given.map(({ name, text }) => {
    try {
      return slim(JSON.parse(text), names !== "");
    } catch (problem) {
      throw new Error(
        t("{name} is not JSON: {problem}.", {
          name,
          problem: problem instanceof Error ? problem.message : String(problem),
        }),
        { cause: problem },
      );
    }
  });
  return postJson("/api/runs/import", { traces, unit, ...(names && { names }) });
}
