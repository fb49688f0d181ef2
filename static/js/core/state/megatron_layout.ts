// Megatron-LM's layout of layers, "Et*3|(tt|)*29,m|L": | ends a stage, E is the embedding, t a layer, m a module that
// predicts a further token, L the output layer. The same as backend/schedule/interop/megatron_layout.py.
import { t } from "../i18n/language.ts";

/** Of each stage: transformer layers, and modules for further tokens. */
export type StageLayout = { layers: number[]; further: number[] };
/** What the text should have been. */
type Wrong = { wanted: string };

const SIGNS = "ELtm|";
const EXAMPLE = "Et*3|(tt|)*29,m|L";
const MOST = 75_536; // signs, written out

/** Whether a text is a layout, right or wrong, and no list of numbers. */
export const isLayout = (text: string) => /[ELtm|]/.test(text);

/** Layers where a module for further tokens counts as one, as without a model. */
export const countsOf = ({ layers, further }: StageLayout) => layers.map((count, stage) => count + further[stage]);

/** The number of modules for further tokens, and their stage: null for none, or the last one. */
export function furtherOf({ further }: StageLayout): { mtp: number | null; mtp_stage: number | null } {
  const stage = further.findIndex((count) => count > 0);
  return {
    mtp: stage < 0 ? null : further[stage],
    mtp_stage: stage < 0 || stage === further.length - 1 ? null : stage,
  };
}

export function readLayout(text: string): StageLayout | Wrong {
  const signs = writtenOut(text);
  if ("wanted" in signs) return signs;
  const stages: string[][] = [[]];
  const modules = new Set<number>();
  let behind = ""; // the last sign of a layer
  for (const [at, sign] of signs) {
    if (sign === "|") {
      stages.push([]);
      continue;
    }
    if (sign === "m") modules.add(stages.length);
    const why =
      behind === "L"
        ? t("nothing comes behind L, the output layer")
        : (sign === "E") !== (behind === "") || (sign === "E" && stages.length > 1)
          ? t("E, the embedding, comes first and once")
          : sign === "t" && behind === "m"
            ? t("layers, t, come before all m")
            : modules.size > 1
              ? t("all m are in one stage")
              : null;
    if (why !== null) return wrongAt(text, at, why);
    stages[stages.length - 1].push(sign);
    behind = sign;
  }
  if (!stages[stages.length - 1].includes("L"))
    return wrongAt(text, text.length, t("L, the output layer, ends the last stage"));
  const count = (sign: string) => stages.map((stage) => stage.filter((each) => each === sign).length);
  const layers = count("t");
  if (!layers.some((each) => each > 0)) return wrongAt(text, text.length, t("there is no layer, t"));
  return { layers, further: count("m") };
}

/** Position from 1 and sign of each sign, repetitions written out, without commas. */
function writtenOut(text: string): [number, string][] | Wrong {
  const out: [number, string][] = [];
  let opened: number | null = null; // where the present brackets begin in `out`
  for (const found of text.matchAll(/(.)(?:\*([0-9]{1,9}))?/gs)) {
    const [whole, sign, times] = found;
    let part: [number, string][] = [[found.index + 1, sign]];
    if (sign === "(" && opened === null && times === undefined) {
      opened = out.length;
      continue;
    }
    if (sign === ")" && opened !== null && times !== undefined) {
      part = out.slice(opened);
      opened = null;
    } else if (`${SIGNS},`.includes(sign)) out.push(...part);
    else return wrongAt(text, found.index + 1, t("the signs are E, t, m, L and |, as often as n by *n or (...)*n"));
    const count = Number(times ?? 1);
    if (!(count >= 1 && count <= MOST && out.length + (count - 1) * part.length <= MOST))
      return wrongAt(text, found.index + whole.length, t("a sign is there 1 to {most} times in all", { most: MOST }));
    for (let k = 1; k < count; k++) out.push(...part);
  }
  if (opened !== null) return wrongAt(text, text.length, t("brackets end with ) and a number: (tt|)*29"));
  return out.filter(([, sign]) => sign !== ",");
}

const wrongAt = (text: string, at: number, why: string): Wrong => ({
  wanted: t("a layout such as {example}; at position {at} ({sign}): {why}", {
    at,
    sign: text.slice(at - 1, at),
    why,
    example: EXAMPLE,
  }),
});

/** The keys of a link, with those that a layout in "layers" or "m.layers" stands for; a wrong one stays as it is. */
export function withoutLayouts(given: Map<string, string>) {
  const own = given.get("layers");
  if (own !== undefined && isLayout(own) && given.has("m.model") && !given.has("m.layers")) {
    given.set("m.layers", own); // of the model, which knows its modules
    given.delete("layers");
  }
  const text = given.get("m.layers");
  const layout = text !== undefined && isLayout(text) ? readLayout(text) : null;
  if (!layout || "wanted" in layout) return;
  given.set("m.layers", layout.layers.length > 1 ? layout.layers.join(",") : `1*${layout.layers[0]}`);
  for (const [name, value] of Object.entries(furtherOf(layout))) if (value !== null) given.set(`m.${name}`, `${value}`);
}
