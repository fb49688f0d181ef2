// The totals of the selected area, in a small panel beside it: how long, busy, idle, and by kind; a column for each
// schedule.
import { timeNumber, timeText } from "../../data/costs/time_unit.ts";
import { h, replace, show } from "../../ui/dom.ts";
import { t } from "../../core/i18n/language.ts";
import { COPY_LETTERS } from "../../core/schedule/copies.ts";
import { rankRanges, totals, type Area, type RankRange, type Share, type Totals } from "../../core/timeline/area.ts";
import { KIND_PAIR, LETTERS } from "../../core/schedule/ops.ts";
import { formatPercent } from "../../core/i18n/numbers.ts";
import { announce } from "../../ui/live_region.ts";
import type { Box } from "../draw/axis.ts";
import type { Lane } from "../../data/lanes.ts";

/** Of the area, in one lane group. */
type Part = { lane: Lane; range: RankRange; sums: Totals };

const AWAY = 10; // px between the area and the panel
const MARGIN = 8;
const SMALL = { width: 520, height: 300 }; // px of a plot that a whole panel would cover

type AreaActs = { clear: () => void; zoom: () => void };

export function createAreaPanel(plot: HTMLElement, acts: AreaActs) {
  const body = h("div");
  const node = panelNode(body, acts, () => {
    size = sizeOf(node);
    lay();
  });
  plot.append(node);
  let shown: { area: Area | null; key: string; times: unknown[] } = { area: null, key: "", times: [] };
  let size = { width: 0, height: 0 };
  let wasSmall = false;
  let beside: Box[] = [];

  function lay() {
    const { x, y } = placeFor(beside, size, plot);
    node.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px)`;
  }

  /** Sum up again only where the area or the lanes under it changed. */
  function fill(area: Area, lanes: Lane[]) {
    const key = lanes.map(({ id }) => id).join() + document.documentElement.lang + timeText(1);
    if (area === shown.area && key === shown.key && lanes.every(({ times }, at) => times === shown.times[at])) return;
    shown = { area, key, times: lanes.map(({ times }) => times) };
    replace(body, tableOf(area, partsOf(area, lanes), lanes.length > 1));
    size = sizeOf(node);
  }

  return {
    open: () => !node.hidden,
    /** boxes: where it is on the screen. */
    show(area: Area | null, lanes: Lane[], boxes: Box[], dragging: boolean) {
      show(node, area !== null);
      node.classList.toggle("passive", dragging);
      if (!area) {
        shown.area = null;
        return;
      }
      const small = plot.clientWidth < SMALL.width || plot.clientHeight < SMALL.height;
      if (node.classList.toggle("small", small) !== wasSmall) shown.area = null; // its size is another
      wasSmall = small;
      fill(area, lanes);
      beside = boxes;
      lay();
    },
    say: (area: Area, lanes: Lane[]) =>
      announce(
        partsOf(area, lanes)
          .map((part) => sentenceOf(part, lanes.length > 1))
          .join(t(" ")),
      ),
  };
}

/** The panel: its body, and buttons below it. resized: when "By kind" opened or closed. */
function panelNode(body: HTMLElement, acts: AreaActs, resized: () => void): HTMLElement {
  const expand = () => {
    more.setAttribute("aria-expanded", String(node.classList.toggle("full")));
    resized();
  };
  const button = (text: string, act: () => void, options: Record<string, string>) =>
    h("button", { type: "button", class: "button soft", onclick: act, ...options }, text);
  const more = button(t("By kind"), expand, { class: "button soft more", "aria-expanded": "false" });
  const node = h(
    "section",
    { class: "popup area-panel", id: "area", "aria-label": t("Selected area"), hidden: true },
    body,
    h(
      "div",
      { class: "area-acts" },
      button(t("Zoom to it"), acts.zoom, { title: t("Zoom to it ({key})", { key: "F" }) }),
      button(t("Clear"), acts.clear, { title: t("Clear the area ({key})", { key: "Esc" }) }),
      more,
    ),
  );
  return node;
}

const sizeOf = (node: HTMLElement) => ({ width: node.offsetWidth, height: node.offsetHeight });

function partsOf(area: Area, lanes: Lane[]): Part[] {
  const groups = lanes.map(({ id, schedule }) => ({ id, p: schedule.p }));
  return rankRanges(area, groups).flatMap((range) => {
    const lane = lanes.find(({ id }) => id === range.lane);
    return lane ? [{ lane, range, sums: totals(lane, range, area.t0, area.t1) }] : [];
  });
}

/** Below the area, else above, else beside it, else in the plot's lower corner: where it hides the least of it. */
function placeFor(boxes: Box[], { width, height }: { width: number; height: number }, plot: HTMLElement) {
  const [wide, tall] = [plot.clientWidth, plot.clientHeight];
  const corner = { x: wide - width - MARGIN, y: tall - height - MARGIN };
  if (!boxes.length) return corner;
  const top = Math.min(...boxes.map(({ y }) => y));
  const foot = Math.max(...boxes.map((box) => box.y + box.h));
  const { x, w } = boxes[0];
  const across = Math.min(Math.max(MARGIN, x + w / 2 - width / 2), wide - width - MARGIN);
  const down = Math.min(Math.max(MARGIN + 24, top), tall - height - MARGIN);
  if (foot + AWAY + height <= tall) return { x: across, y: foot + AWAY };
  if (top - AWAY - height >= 24) return { x: across, y: top - AWAY - height };
  if (x + w + AWAY + width <= wide) return { x: x + w + AWAY, y: down };
  if (x - AWAY - width >= 0) return { x: x - AWAY - width, y: down };
  return corner;
}

/** What each kind is called. */
function nameOf(kind: number) {
  return [
    t("forward"),
    t("input gradient"),
    t("weight gradient"),
    t("full backward"),
    t("overlapped pair"),
    t("output layer's shard"),
    t("its gradients"),
  ][kind];
}

const ranksText = (first: number, last: number) =>
  first === last ? t("rank {rank}", { rank: first }) : t("ranks {first} to {last}", { first, last });

/** several: schedules are on the screen. */
function tableOf({ t0, t1 }: Area, parts: Part[], several: boolean) {
  const columns = parts.map(
    ({ lane, range }) => `${several ? `${titleOf(lane)} · ` : ""}${ranksText(range.first, range.last)}`,
  );
  const kinds = unionOf(parts, (sums) => sums.kinds);
  const copies = unionOf(parts, (sums) => sums.copies);
  const rows = [
    rowOf(t("duration"), parts, ({ duration }) => timeText(duration), "extra"),
    rowOf(t("busy"), parts, ({ busy }) => timeText(busy)),
    rowOf(t("idle"), parts, ({ idle }) => timeText(idle)),
    rowOf(t("bubble"), parts, ({ bubble }) => formatPercent(bubble), "lead"),
    rowOf(
      t("ops"),
      parts,
      ({ ops, cut }) => (cut ? t("{ops}, {cut} of them cut", { ops, cut }) : String(ops)),
      "extra",
    ),
    ...kinds.map((kind) =>
      kindRow(kind, nameOf(kind), kind === KIND_PAIR ? "FB" : LETTERS[kind], parts, (sums) => sums.kinds, "kinds"),
    ),
    ...copies.map((kind) =>
      kindRow(kind, kind ? t("reload") : t("offload"), COPY_LETTERS[kind], parts, (sums) => sums.copies, "copies"),
    ),
  ];
  return h(
    "table",
    {},
    h("caption", { class: "visually-hidden" }, t("Totals of the selected area")),
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        h("th", { scope: "col" }, t("{from} to {to}", { from: timeNumber(t0), to: timeText(t1) })),
        ...columns.map((text) => h("th", { scope: "col", text })),
      ),
    ),
    h("tbody", {}, ...rows),
  );
}

const titleOf = ({ id, kind }: Lane) => (kind === "run" ? t("measured") : id.toUpperCase());

const unionOf = (parts: Part[], of: (sums: Totals) => Share[]) =>
  [...new Set(parts.flatMap(({ sums }) => of(sums).map(({ kind }) => kind)))].sort((a, b) => a - b);

const rowOf = (name: string, parts: Part[], text: (sums: Totals) => string, cls?: string) =>
  h(
    "tr",
    { class: cls },
    h("th", { scope: "row", text: name }),
    ...parts.map(({ sums }) => h("td", { text: text(sums) })),
  );

/** A kind's time, and how many ops of it. */
function kindRow(
  kind: number,
  name: string,
  letter: string,
  parts: Part[],
  of: (sums: Totals) => Share[],
  cls: string,
) {
  const cells = parts.map(({ sums }) => {
    const share = of(sums).find((each) => each.kind === kind);
    return h("td", {}, timeText(share?.time ?? 0), h("small", { text: `× ${share?.ops ?? 0}` }));
  });
  return h(
    "tr",
    { class: cls },
    h("th", { scope: "row" }, h("i", { class: `kind k-${letter.toLowerCase()}`, text: letter }), name),
    ...cells,
  );
}

function sentenceOf({ lane, range, sums }: Part, several: boolean) {
  const sentence = t("{duration} on {ranks}: busy {busy}, idle {idle}, bubble {bubble}, {ops} ops.", {
    duration: timeText(sums.duration),
    ranks: ranksText(range.first, range.last),
    busy: timeText(sums.busy),
    idle: timeText(sums.idle),
    bubble: formatPercent(sums.bubble),
    ops: sums.ops,
  });
  return several ? `${titleOf(lane)}: ${sentence}` : sentence;
}
