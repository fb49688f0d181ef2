// What a student's page shows, read from its address: the schedules with their times, to draw them small and to show
// them to the class.
import { loadPrices } from "../../data/costs/pricing.ts";
import { PresetCosts } from "../../data/costs/preset_costs.ts";
import { answerTo } from "../../data/orders/orders.ts";
import { orderQuery } from "../../data/plan.ts";
import { naturalChunks } from "../../data/store.ts";
import { openSpec, splitQuery } from "../../data/workbench/address.ts";
import { t, tr } from "../../core/i18n/language.ts";
import { timedWithOptions } from "../../core/options/apply_options.ts";
import { timing } from "../../core/schedule/effective_costs.ts";
import { IMPORTED } from "../../core/schedule/spec_tables.ts";
import { isFirstVisit, queryOf } from "../../core/state/first_visit.ts";
import { parse } from "../../core/state/link.ts";
import { specsOf } from "../../core/state/schedules.ts";
import { isWhole, shownSchedule, timesOf } from "../../core/workbench/position.ts";
import type { Catalogue, Schedule, Spec, Times } from "../../core/schedule/types.ts";
import type { Preset } from "../../core/state/link_preset.ts";

export type View = { page: string; query: string };
export type SmallLane = { schedule: Schedule; times: Times };
/** at: the playhead; open: a board that is not finished; lanes: null where there is nothing to draw. */
export type Seen = { label: string; specs: Spec[]; preset: Preset | null; at: number | null; open: boolean };
export type Drawn = { lanes: SmallLane[]; end: number; problem: string };

const NOTHING: Drawn = { lanes: [], end: 0, problem: "" };
const MOST_KEPT = 200; // answers

export class Views {
  catalogue: Catalogue;
  natural: Record<string, number>;

  #costs: PresetCosts;
  #titles: Map<string, string>;
  #drawn = new Map<string, Promise<Drawn>>();

  constructor(catalogue: Catalogue) {
    this.catalogue = catalogue;
    this.natural = naturalChunks(catalogue.families);
    this.#costs = new PresetCosts(catalogue.defaults);
    this.#titles = new Map(catalogue.families.map(({ name, title }) => [name, title]));
    this.#titles.set(IMPORTED, t("Imported order"));
  }

  /** What the address names; its schedules are those of `drawn`. */
  read({ page, query }: View): Seen {
    const { defaults } = this.catalogue;
    const board = page === "/build";
    const { query: plain, own } = board ? splitQuery(query) : { query, own: null };
    if (page.startsWith("/learn/") && isFirstVisit(plain))
      return { label: t("Lesson: {name}", { name: lessonOf(page) }), specs: [], preset: null, at: null, open: false };
    const { state } = parse(board ? plain : queryOf(plain), defaults, this.natural);
    const specs = specsOf(state);
    const name = board ? t("Board") : specs.map(({ family }) => this.#titles.get(family) ?? family).join(" / ");
    const sizes = specs.length > 1 ? [] : [`p ${specs[0].p}`, `m ${specs[0].m}`];
    const task = own?.task ? [own.task.replaceAll("-", " ")] : [];
    const begun = !task.length || specs[0].family === IMPORTED; // a task's address has an order once there is one
    return {
      label: [name, ...(task.length ? task : sizes)].join(" · "),
      specs: begun ? specs : [],
      preset: state.preset,
      at: state.view.at,
      open: board,
    };
  }

  /** Its schedules with their times, worked out once for all students who see the same. */
  drawn(seen: Seen): Promise<Drawn> {
    if (!seen.specs.length) return Promise.resolve(NOTHING);
    const key = keyOf(seen);
    let found = this.#drawn.get(key);
    if (!found) {
      found = this.#work(seen).catch((problem) => ({ ...NOTHING, problem: String(problem.message ?? problem) }));
      this.#drawn.set(key, found);
      const [oldest] = this.#drawn.keys();
      if (this.#drawn.size > MOST_KEPT) this.#drawn.delete(oldest);
    }
    return found;
  }

  async #work(seen: Seen): Promise<Drawn> {
    const lanes = seen.open ? [await this.#board(seen)] : [];
    if (!seen.open) for (const spec of await this.priced(seen)) lanes.push(await this.#lane(spec));
    const whole = ({ times }: SmallLane) => (Number.isFinite(times.makespan) ? times.makespan : lastEnd(times));
    return { lanes, end: Math.max(...lanes.map(whole)), problem: "" };
  }

  /** The schedules with the costs of the model that the address names. */
  async priced({ specs: [spec, ...others], preset }: Seen): Promise<Spec[]> {
    if (!preset) return [spec, ...others];
    const { defaults } = this.catalogue;
    const { state } = parse("", defaults, this.natural);
    const asked = { ...state, spec, others, preset };
    await loadPrices(asked, defaults);
    return specsOf(this.#costs.restore(asked, asked));
  }

  async #lane(spec: Spec): Promise<SmallLane> {
    const answer = await answerTo(spec, orderQuery(spec, this.catalogue.defaults), new AbortController().signal);
    if (!answer.schedule) throw new Error(tr(answer.error));
    return timedWithOptions(answer.schedule, spec, timing(spec));
  }

  async #board({ specs: [spec] }: Seen): Promise<SmallLane> {
    const { position } = await openSpec(spec, this.catalogue.defaults);
    return { schedule: shownSchedule(position), times: timesOf(position).times };
  }

  /** The first schedule, to be shown to the class; null for a board that is not finished, and where there is none. */
  async first(seen: Seen): Promise<Spec | null> {
    if (!seen.specs.length) return null;
    if (!seen.open) return (await this.priced(seen))[0];
    const { position } = await openSpec(seen.specs[0], this.catalogue.defaults);
    return isWhole(position) ? seen.specs[0] : null;
  }
}

/** Who has the same key sees the same, but for the playhead. */
export const keyOf = ({ specs, preset, open }: Seen) => JSON.stringify([specs, preset, open]);

export const lessonOf = (page: string) => page.replace("/learn/", "").replaceAll("-", " ");

function lastEnd({ end }: Times) {
  let last = 0;
  for (const each of end) if (Number.isFinite(each) && each > last) last = each;
  return last;
}
