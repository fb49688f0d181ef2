// The last diagnosis of a measured step, as the server has made it from files.
import { postJson } from "../api.ts";
import type { Spec, Text } from "../../core/schedule/types.ts";

type Place = { op?: string; stage?: number; rank?: number; replica?: number; step?: number };
export type Finding = { cause: string; saves: number; costs: number; place: Place; text: Text; repair: Text };
/** A time in which a rank does not compute, before an op or after its last; the parts of it by cause, in ms. */
export type Wait = { rank: number; op: string | null; start: number; end: number; causes: Record<string, number> };
/** Shares are of the step, times in ms. */
export type Diagnosis = {
  source: Text;
  recognised: {
    family: string | null;
    title: Text | null;
    p: number;
    m: number;
    v: number;
    nearest: { title: Text; share: number; rank: number; index: number; here: string; there: string } | null;
  };
  measured: Record<"steps" | "replicas" | "step" | "span" | "tail" | "bubble", number> & {
    beside: { name: string; time: number }[]; // what ranks do beside their ops
    by_step: { least: number; most: number };
    of: { steps: number[]; replicas: number[] }; // of which one may be chosen
  };
  replay: { ratio: number; lowest: number; highest: number };
  slowdown: { slowdown: number; M_S: number; M_W: number | null };
  by_worker: { replica: number; rank: number; slowdown: number }[];
  idle: ({ rank: number; work: number } & Record<string, number>)[];
  timeline: { step: number; replica: number; end: number; waits: Wait[] }; // of the step of median length
  layers: { before: number[]; after: number[]; saves: number; layout: string | null; spec: Spec } | null;
  what_if: Record<string, number>;
  findings: Finding[];
  verdict: Text[];
  spec: Spec;
  notes: Text[];
};
/** Files as they are sent, how a trace names its ops, the layers of its stages, and the step and replica chosen. */
type Asked = {
  files: { name: string; text?: string; base64?: string }[];
  names?: string;
  unit?: string;
  layers?: string;
  step?: number;
  replica?: number;
};

export class Diagnoses {
  current: { found: Diagnosis; names: string[] } | null = null;

  #listeners: (() => void)[] = [];
  #asked: Asked | null = null;

  onChange(listener: () => void) {
    this.#listeners.push(listener);
  }

  async ask(asked: Asked) {
    const found: Diagnosis = await postJson("/api/diagnose", asked);
    this.#asked = asked;
    this.current = { found, names: asked.files.map(({ name }) => name) };
    for (const listener of this.#listeners) listener();
  }

  /** What was asked beside the files. */
  get chosen(): Omit<Asked, "files"> {
    return this.#asked ?? {};
  }

  /** Ask once more, with something else of it. */
  async again(change: Partial<Asked>) {
    if (this.#asked) await this.ask({ ...this.#asked, ...change });
  }
}
