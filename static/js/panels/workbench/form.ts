// Sizes, placement, costs and memory limit of the board, and where to begin: empty, or with a family's order.
import { t, tr } from "../../core/i18n/language.ts";
import { withChunks } from "../../core/schedule/per_chunk.ts";
import { withField } from "../../data/spec_fields.ts";
import { createBoard, emptyPosition, MOST, onBoard, type Position } from "../../core/workbench/position.ts";
import { isSize } from "../../core/workbench/order_text.ts";
import { h } from "../../ui/dom.ts";
import { optionNodes } from "../../ui/fields/choices.ts";
import { setNote } from "../../ui/notes.ts";
import type { Family, PlacementKind, Spec } from "../../core/schedule/types.ts";
import type { Session } from "../../core/workbench/session.ts";

type Parts = { session: Session; families: Family[]; fork: (spec: Spec) => Promise<Position> };

const COSTS: [string, () => string][] = [
  ["F", () => t("Forward F")],
  ["I", () => t("Input grad I")],
  ["W", () => t("Weight grad W")],
  ["comm", () => t("Hop c")],
];

export function createForm({ session, families, fork }: Parts) {
  const problem = h("p#bench-problem.problem", { role: "alert", hidden: true });
  const complain = (text: string) => setNote(problem, text);
  const box = (id: string, label: string, symbol: string, props: Record<string, any>) => {
    const input = h("input", { id: `bench-${id}`, autocomplete: "off", "aria-label": label, ...props });
    const node = h("label.bench-field", { for: input.id, title: label }, h("span", { text: symbol }), input);
    return { input, node };
  };
  const whole = (name: "p" | "m" | "v", label: string) =>
    box(name, label, name, { type: "number", min: 1, max: MOST[name], step: 1, inputmode: "numeric" });
  const p = whole("p", t("Devices p"));
  const m = whole("m", t("Micro-batches m"));
  const v = whole("v", t("Chunks v"));
  const costs = COSTS.map(([name, label]) => box(name, label(), label(), { type: "text", inputmode: "decimal" }));
  const memory = box("memory", t("Memory limit, in micro-batches"), t("Memory limit"), {
    ...{ type: "text", inputmode: "decimal", placeholder: t("none") },
  });
  const placement = h("select#bench-placement", ...optionNodes(placements()));
  const begin = createBegin({ session, families, fork }, complain);
  const sizes = [p.input, m.input, v.input, placement];

  for (const input of sizes) input.addEventListener("change", () => resize());
  for (const { input } of [...costs, memory]) input.addEventListener("change", () => reprice());

  const node = h(
    "details#bench-settings.fold.bench-form",
    { open: true },
    h("summary", { text: t("Settings") }),
    h("div.bench-fields", p.node, m.node, v.node),
    h("label.bench-field.wide", { for: "bench-placement" }, h("span", { text: t("Placement") }), placement),
    h("h2", { text: t("Time of a device's share") }),
    h("div.bench-fields", ...costs.map((each) => each.node), memory.node),
    problem,
    h("h2", { text: t("Begin with") }),
    h("label.visually-hidden", { for: "bench-fork", text: t("Begin with a family's order") }),
    begin,
  );

  /** Other sizes are another board: it begins empty, and Undo does not lead back; the form says so. */
  function resize() {
    const kind = placement.value as PlacementKind;
    const chunks = kind === "bidirectional" ? 1 : Number(v.input.value);
    const [ranks, micro] = [Number(p.input.value), Number(m.input.value)];
    if (kind === "bidirectional" && (ranks % 2 || micro % 2))
      return complain(t("Two directions need an even p and an even m."));
    if (!isSize(kind, ranks, micro, chunks))
      return complain(t("p is from 1 to {p}, m from 1 to {m}, v from 1 to {v}, all whole numbers.", MOST));
    const { spec } = session.board;
    const stages = ranks * (kind === "bidirectional" ? 1 : chunks);
    const flat = (cost: number | number[]) =>
      Array.isArray(cost) && cost.length !== stages ? (cost.reduce((a, b) => a + b, 0) / cost.length) * chunks : cost;
    const kept = { ...spec.costs, F: flat(spec.costs.F), I: flat(spec.costs.I), W: flat(spec.costs.W) };
    complain("");
    const next = { ...withField(withChunks(spec, chunks), "m", micro), p: ranks, costs: kept };
    session.begin(emptyPosition(createBoard(next, kind)), t("A new board: p = {p}, m = {m}, v = {v}.", next));
  }

  function reprice() {
    const { spec, placement: present } = session.board;
    const stages = present.stages;
    const next: Record<string, number | number[]> = {};
    for (const [at, [name]] of COSTS.entries()) {
      const list = costs[at].input.value
        .split(/[,;\s]+/)
        .filter(Boolean)
        .map(Number);
      const right = list.length === 1 || (name !== "comm" && list.length === stages);
      if (!right || list.some((each) => !(each >= 0 && each <= 1e6)))
        return complain(
          t("{name} is a number of 0 or more, or one for each of the {stages} stages, with commas between.", {
            name,
            stages,
          }),
        );
      next[name] = list.length === 1 ? list[0] : list;
    }
    const text = memory.input.value.trim();
    const limit = text === "" || text === t("none") ? null : Number(text);
    if (limit !== null && !(limit > 0 && limit <= 1e6))
      return complain(t("The memory limit is a number greater than 0."));
    if (limit !== null && spec.sizes)
      return complain(t("A board whose micro-batches differ has no limit of memory; leave it empty."));
    complain("");
    const priced = { ...spec, memory: limit, costs: { ...spec.costs, ...next, FB: null } };
    const board = createBoard(priced, present.kind);
    const sentence = t("Costs and limit have changed; times follow.");
    if (session.aim) return session.begin(onBoard(session.position, board), sentence); // it is another task
    return session.setBoard(board, sentence);
  }

  function sync() {
    const { p: ranks, m: micro, v: chunks, spec, placement: present, limit } = session.board;
    p.input.value = String(ranks);
    m.input.value = String(micro);
    v.input.value = String(chunks);
    v.input.disabled = present.kind === "bidirectional";
    placement.value = present.kind;
    COSTS.forEach(([name], at) => {
      costs[at].input.value = String(Reflect.get(spec.costs, name));
    });
    memory.input.value = limit === null ? "" : String(limit);
  }

  let inTask = false;
  session.onChange(({ moved }) => {
    if (moved) sync();
    if (inTask !== (session.aim !== null)) node.open = inTask; // a task has its own
    inTask = session.aim !== null;
  });
  sync();
  return { node, complain };
}

/** The choice of where to begin. */
function createBegin({ session, families, fork }: Parts, complain: (text: string) => void) {
  const select = h(
    "select#bench-fork",
    { onchange: choose },
    h("option", { value: "", text: t("choose …") }),
    h("option", { value: "empty", text: t("An empty board") }),
    ...families
      .filter(({ asynchronous }) => !asynchronous)
      .map(({ name, title, summary }) => h("option", { value: name, text: title, title: tr(summary) })),
  );

  function choose() {
    const name = select.value;
    select.value = "";
    if (name === "empty") session.go(emptyPosition(session.board), t("The board is empty."));
    const family = families.find((each) => each.name === name);
    if (family) start(family).catch((error) => complain(error instanceof Error ? error.message : String(error)));
  }

  async function start({ name, title, v }: Family) {
    const { board } = session;
    const chunks = Math.max(v.min, Math.min(v.max, board.v));
    const position = await fork({ ...withChunks(board.spec, chunks), family: name, order: null });
    complain("");
    const sentence = t("{family}, {count} ops: every op can be moved or taken back.", {
      family: title,
      count: position.count,
    });
    const { placement } = position.board;
    if (placement.chunks === board.chunks && placement.kind === board.placement.kind)
      session.go({ ...position, board }, sentence);
    else session.begin(position, sentence);
  }

  return select;
}

const placements = (): [PlacementKind, string][] => [
  ["looped", t("Looped")],
  ["v", t("V")],
  ["bidirectional", t("Two directions")],
];
