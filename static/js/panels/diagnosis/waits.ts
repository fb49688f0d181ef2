// The waits of a measured step by cause, where they are on its time axis.
import { causeName } from "./causes.ts";
import { short } from "./chart.ts";
import { filled, h, replace } from "../../ui/dom.ts";
import { t } from "../../core/i18n/language.ts";
import type { Diagnosis, Wait } from "../../data/runs/diagnosis.ts";

const [LOWEST, TALLEST, ALL] = [5, 18, 320]; // px of a rank's row, and of all rows together

/**
 * The waits of one step on its time axis, in the colours of their causes. show: goes to an op on the timeline. pick
 * shows a cause alone, there and in the charts beside it, and says where it is; with null it shows all.
 */
export function createWaits(found: Diagnosis, home: HTMLElement, show: (op: string) => void) {
  const { step, replica, end, waits } = found.timeline;
  const { idle, measured } = found;
  const picked = h("p.diagnosis-picked", { role: "status" });
  const height = Math.max(LOWEST, Math.min(TALLEST, Math.floor(ALL / idle.length)));
  const every = Math.ceil(TALLEST / height); // ranks whose number is written
  const rows = idle.map(({ rank }) => {
    const mine = waits.filter((wait) => wait.rank === rank);
    const track = h("span.diagnosis-track", ...mine.map((wait) => waitOf(wait, end, show)));
    const row = h("div.diagnosis-row", h("span.diagnosis-rank", { text: rank % every ? "" : String(rank) }), track);
    row.style.height = `${height}px`;
    return row;
  });
  const words = { step, replica, ms: short(end) };

  function pick(cause: string | null) {
    for (const part of home.querySelectorAll<HTMLElement>("figure .diagnosis-part"))
      part.classList.toggle("dim", cause !== null && part.dataset.cause !== cause);
    for (const button of home.querySelectorAll<HTMLElement>(".diagnosis-key button"))
      button.setAttribute("aria-pressed", String(button.dataset.cause === cause));
    const { text, op } = cause ? waitsOf(found, cause) : { text: "", op: null };
    const label = () => filled(t("Show the longest, before {op}"), { op: h("code", { text: op ?? "" }) });
    replace(picked, text, op ? h("button.button.soft", { onclick: () => show(op) }, ...label()) : "");
  }

  const figure = h(
    "figure.diagnosis-step",
    h("figcaption", {
      text:
        measured.replicas > 1
          ? t("Where ranks wait, in step {step} of replica {replica}: {ms} ms", words)
          : t("Where ranks wait, in step {step}: {ms} ms", words),
    }),
    h("div", { "aria-hidden": "true" }, ...rows),
    picked,
  );
  return { figure, pick };
}

function waitOf(wait: Wait, whole: number, show: (op: string) => void) {
  const { op, start, end, causes } = wait;
  const parts = Object.entries(causes).map(([name, ms]) => {
    const part = h("span.diagnosis-part", { "data-cause": name });
    part.style.flexGrow = String(ms / (end - start));
    return part;
  });
  const node = h("span.diagnosis-wait", { title: sentenceOf(wait), onclick: op ? () => show(op) : null }, ...parts);
  node.classList.toggle("leads", op !== null);
  node.style.left = `${(100 * start) / whole}%`;
  node.style.width = `${(100 * (end - start)) / whole}%`;
  return node;
}

function sentenceOf({ rank, op, start, end, causes }: Wait) {
  const parts = Object.entries(causes).sort((a, b) => b[1] - a[1]);
  const why = parts.map(([name, ms]) => t("{cause}: {ms} ms", { cause: causeName(name), ms: short(ms) })).join(", ");
  const words = { rank, op: op ?? "", ms: short(end - start), why };
  return op
    ? t("Rank {rank} waits {ms} ms before {op} ({why})", words)
    : t("Rank {rank} waits {ms} ms after its last op ({why})", words);
}

/** What the waits of a cause are, in a sentence, and the longest of them that an op ends. */
function waitsOf({ timeline: { waits } }: Diagnosis, cause: string) {
  const all = waits.filter(({ causes }) => causes[cause]);
  const longest = all
    .filter(({ op }) => op)
    .reduce<Wait | null>((most, each) => (most && most.causes[cause] >= each.causes[cause] ? most : each), null);
  const total = all.reduce((sum, { causes }) => sum + causes[cause], 0);
  const words = { cause: causeName(cause), count: all.length, ms: short(total) };
  const text = all.length
    ? t("{cause}: {ms} ms in {count} waits of this step, all ranks together.", words)
    : t("{cause}: no wait of this step.", words);
  return { text, op: longest?.op ?? null };
}
