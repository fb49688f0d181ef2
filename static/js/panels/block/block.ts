// The block tab: what each family on the screen repeats, drawn, and the arithmetic of its memory; or why it repeats
// nothing.
import { drawBlock } from "./draw.ts";
import { arithmeticTable, slotTable } from "./table.ts";
import { onRecolour } from "../../ui/appearance.ts";
import { h, replace, sentence, setText } from "../../ui/dom.ts";
import { Refusal, createRetry, getAnswer } from "../../data/api.ts";
import { moveTo } from "../../data/spec_fields.ts";
import { t, tr } from "../../core/i18n/language.ts";
import { letter, putAt, specsOf } from "../../core/state/schedules.ts";
import { MARGIN, remark, rowSizes, unitsOf, type Answer } from "../../core/drawing/building_block.ts";
import type { Spec, SpecError } from "../../core/schedule/types.ts";
import type { Plans } from "../../data/plans.ts";
import type { Store } from "../../data/store.ts";

type Wanted = { spec: Spec; path: string; slot: number; mark: string; remark: string };
type Drawing = { answer: Answer; title: string; scroll: HTMLElement };

const kept: Map<string, Answer | { error: SpecError }> = new Map();
const underway = new Map<string, Promise<void>>();

const blockPath = ({ family, p }: { family: string; p: number }) =>
  `/api/block?family=${encodeURIComponent(family)}&p=${p}`;

/** What is here already. */
const known = (path: string) => kept.get(path);

/** Rejects with Offline only. */
function ask(path: string): Promise<void> {
  if (kept.has(path)) return Promise.resolve();
  let promise = underway.get(path);
  if (!promise) {
    promise = getAnswer(path)
      .catch(refused)
      .then((answer) => {
        kept.set(path, answer);
      })
      .finally(() => underway.delete(path));
    underway.set(path, promise);
  }
  return promise;
}

function refused(problem: unknown) {
  if (problem instanceof Refusal) return { error: problem.error };
  throw problem;
}

const how = () =>
  t(
    "Strong: one micro-batch, k. Faint: those before and after it, a period apart; together they fill every slot. " +
      "Bars: how long a device keeps the activations, from F to the end of W.",
  );
const none = () =>
  t(
    "A building block is one micro-batch's ops on all devices, repeated at a constant interval; the memory " +
      "follows from it.",
  );
const MOST_DRAWN = 64; // devices
const FEWER = 16;
const LEAST_SLOT = 1; // px; narrower, the drawing scrolls
const WIDEST_SLOT = 44;
const ROW = 24; // px of a table's row where it is not beside its device's

function asked(spec: Spec) {
  const path = blockPath(spec);
  const answer = known(path);
  return { path, remark: answer && !("error" in answer) ? remark(answer, spec) : "" };
}

const pathsOf = (wanted: Wanted[]) => wanted.map(({ path }) => path).join();

/** What is shown, in short: it is drawn anew only where this differs. */
const keyOf = (wanted: Wanted[]) => wanted.map(({ path, mark, remark: note }) => mark + path + note).join();

class BlockPanel {
  store: Store;
  plans: Plans;

  #status = h("p.block-status", { role: "status" });
  #home = h("div.block-home");
  #shown = "";
  #retry = createRetry(() => this.show());
  #width = 0;
  #open = false;
  #how = how();
  #drawings: Drawing[] = [];
  panel = h("div.block", this.#status, this.#home);

  constructor({ store, plans }: { store: Store; plans: Plans }) {
    this.store = store;
    this.plans = plans;
    store.subscribe(() => this.show());
    onRecolour(() => {
      if (!this.panel.hidden) this.#fit(true);
    });
    new ResizeObserver(() => this.#fit()).observe(this.#home);
  }

  /** The building blocks that the state needs, once each. */
  #wanted(): Wanted[] {
    const specs = specsOf(this.store.get());
    const wanted: Wanted[] = [];
    specs.forEach((spec, slot) => {
      const each = { spec, ...asked(spec), slot, mark: specs.length > 1 ? letter(slot) : "" };
      const same = wanted.find((other) => keyOf([{ ...other, mark: "" }]) === keyOf([{ ...each, mark: "" }]));
      if (same) same.mark += `, ${each.mark}`;
      else wanted.push(each);
    });
    return wanted;
  }

  /** Follow the state; the drawing before stays until the next one is here. */
  show() {
    if (this.panel.hidden) return;
    const wanted = this.#wanted();
    const key = keyOf(wanted);
    if (key === this.#shown) return;
    if (wanted.every(({ path }) => known(path))) {
      this.#shown = key;
      this.#draw(wanted);
      return;
    }
    if (!this.#shown) replace(this.#home, h("p.note", { text: t("Loading the building block …") }));
    this.#retry.stop();
    Promise.all(wanted.map(({ path }) => ask(path))).then(
      () => this.show(),
      () => this.#offline(pathsOf(wanted)),
    );
  }

  /** paths: what was asked for. */
  #offline(paths: string) {
    if (paths !== pathsOf(this.#wanted())) return;
    this.#shown = "";
    this.#drawings = [];
    setText(this.#status, none());
    this.#retry.later();
    replace(
      this.#home,
      h(
        "p.note.bad",
        t("The server does not answer."),
        t(" "),
        h("button.link", { onclick: () => this.show() }, t("Try again")),
      ),
    );
  }

  #draw(wanted: Wanted[]) {
    const focused = this.#focused();
    this.#drawings = [];
    replace(this.#home, ...wanted.map((each) => this.#section(each)));
    this.#how = this.#drawings.length ? how() : none();
    setText(this.#status, this.#how);
    this.#fit(true);
    if (focused) (this.#home.querySelector(".block-drawing") as SVGElement | null)?.focus();
  }

  #focused() {
    return document.activeElement instanceof SVGElement && this.#home.contains(document.activeElement);
  }

  #section({ spec, path, slot, mark, remark: note }: Wanted) {
    const family = this.plans.family(spec.family);
    const answer = known(path) as Answer | { error: SpecError };
    const title = `${family?.title ?? spec.family}, p ${spec.p}`;
    const heading = (lead?: string) =>
      h(
        "div.row.block-top",
        h(
          "h2",
          mark ? h("span.plan-mark", { text: mark }) : null,
          family?.title ?? spec.family,
          h("small", { text: `p ${spec.p}` }),
        ),
        lead ? h("p", { text: lead }) : null,
      );
    if ("error" in answer) return h("section.block-section", heading(), this.#without(answer.error, spec, slot));
    const parts = spec.p > MOST_DRAWN ? this.#tooMany(spec, slot) : this.#drawn(answer, title);
    return h(
      "section.block-section",
      { "data-family": spec.family },
      heading(tr(answer.sentence)),
      parts,
      h("p.footnote.block-note", {
        text:
          tr(answer.note) +
          t(" ") +
          (answer.chunks > 1
            ? t("A slot is one op of a chunk; here F, I and W take one each.")
            : t("A slot is one op of a device; here F, I and W take one each.")),
      }),
      note ? h("p.footnote.block-note.is-remark", { text: note }) : null,
      this.#slots(answer, title),
    );
  }

  #drawn(answer: Answer, title: string) {
    const scroll = h("div.block-scroll");
    this.#drawings.push({ answer, title, scroll });
    const { roomy, step } = rowSizes(answer);
    const table = arithmeticTable(answer, title);
    const body = h(
      "div.block-body",
      scroll,
      roomy
        ? table
        : h(
            "div.block-beside",
            { tabindex: 0, role: "region", "aria-label": t("{title}: memory of each device", { title }) },
            table,
          ),
    );
    body.style.setProperty("--row", `${roomy ? step : ROW}px`);
    body.style.setProperty("--head", `${MARGIN.top}px`);
    body.style.setProperty("--tall", `${MARGIN.top + answer.p * step}px`);
    return body;
  }

  #tooMany(spec: Spec, slot: number) {
    return h(
      "p.note",
      t("Building blocks of up to {most} devices are drawn.", { most: MOST_DRAWN }),
      t(" "),
      h("button.link", { onclick: () => this.#put({ ...spec, p: FEWER }, slot) }, t("Show p = {p}", { p: FEWER })),
    );
  }

  #without(error: SpecError, spec: Spec, slot: number) {
    const from = this.plans.family(spec.family);
    const buttons = this.plans.families
      .filter((family) => family.block)
      .map((family) =>
        h(
          "button.button.soft",
          { "data-put": family.name, onclick: () => this.#put(moveTo(spec, from, family), slot) },
          family.title,
        ),
      );
    return h(
      "div.block-none",
      h("p", { text: sentence(tr(error)) }),
      h("div.row", h("span", { text: t("These have one:") }), ...buttons),
    );
  }

  #put(spec: Spec, slot: number) {
    this.store.set(putAt(this.store.get(), slot, spec), "push");
  }

  /** Every slot as a table, made when someone opens it. */
  #slots(answer: Answer, title: string) {
    const holder = h("div.block-table");
    const node = h("details", h("summary.link", { text: t("Every slot as a table") }), holder);
    node.addEventListener("toggle", () => {
      this.#open = node.open;
      if (node.open && !holder.firstChild) holder.append(slotTable(answer, title));
    });
    node.open = this.#open;
    return node;
  }

  /** Draw at the width there is. Two blocks share one scale: a chunk's slot is that much narrower. */
  #fit(again?: boolean) {
    const width = Math.min(...this.#drawings.map(({ scroll }) => scroll.clientWidth));
    if (!Number.isFinite(width) || width <= 0 || (!again && width === this.#width)) return;
    this.#width = width;
    const units = Math.max(...this.#drawings.map(({ answer }) => unitsOf(answer)));
    const room = (width - MARGIN.left - MARGIN.right) / units;
    const most = Math.max(...this.#drawings.map(({ answer }) => answer.chunks));
    const unit = Math.min(WIDEST_SLOT * most, Math.max(LEAST_SLOT * most, room));
    for (const { answer, title, scroll } of this.#drawings) {
      const drawing = drawBlock(answer, unit / answer.chunks, title, (text) => this.#tell(text));
      const focused = scroll.contains(document.activeElement);
      replace(scroll, drawing);
      if (focused) drawing.focus();
    }
  }

  /** text: what is pointed at, else how to read it all. */
  #tell(text: string | null) {
    setText(this.#status, text ?? this.#how);
    this.#status.classList.toggle("is-pointed", text !== null);
  }
}

export const createBlock = (parts: { store: Store; plans: Plans }) => new BlockPanel(parts);
