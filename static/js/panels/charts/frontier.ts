// The frontier of memory and throughput: which of its points are on the timeline, and longer searches at each memory.
import { whyFailed } from "../../data/api.ts";
import { connect } from "../../data/runs/client.ts";
import { h, setText, show } from "../../ui/dom.ts";
import { putOver, type Point, type Put } from "../../core/drawing/chart_points.ts";
import { t, tr } from "../../core/i18n/language.ts";
import { specQuery } from "../../core/state/link.ts";
import { IDS, dropAt, letter, specsOf } from "../../core/state/schedules.ts";
import type { Plans } from "../../data/plans.ts";
import type { Spec, SpecError } from "../../core/schedule/types.ts";

const SECONDS = 3; // at each memory
const OVER = new Set(["finished", "stopped", "failed"]);

/** The position of the point of each schedule on the timeline, -1 for none. */
export function placesIn(points: Point[], plans: Plans) {
  const { defaults } = plans.store;
  const at = (shown: Spec) => {
    const query = specQuery(shown, defaults);
    // A limit changes what a search finds; a schedule that is not searched is only checked against it.
    const limit = plans.family(shown.family)?.fields.includes("memory") ? {} : { memory: shown.memory };
    return points.findIndex((point) => specQuery({ ...putOver(point.spec, shown), ...limit }, defaults) === query);
  };
  return specsOf(plans.store.get()).map(at);
}

/** The letter of the schedule that a point is, "" for none. */
export const markAt = (places: number[], at: number) => (places.includes(at) ? letter(places.indexOf(at)) : "");

/** The letter of a schedule that is added; of four, the last is replaced. */
export const nextLetter = (plans: Plans) => letter(Math.min(IDS.length - 1, plans.store.get().others.length + 1));

/** Replace the first schedule by a point. */
export const putFirst = (plans: Plans, put: Put) =>
  plans.store.set({ spec: putOver(put, plans.store.get().spec) }, "push");

/**
 * Add a point below the other schedules, or remove it where it is there already. there: its position among the
 * schedules, -1 for none.
 */
export function putUnder(plans: Plans, put: Put, there: number) {
  const { store } = plans;
  const { spec, others } = store.get();
  if (there > 0) store.set(dropAt(store.get(), there), "push");
  else if (there < 0) store.set({ others: [...others.slice(0, IDS.length - 2), putOver(put, spec)] }, "push");
}

export class FrontierSearch {
  points: () => Point[];
  again: () => Promise<void>;

  #button = h("button#charts-seek.button.soft", {
    title: t("Search {seconds} s for a better order at each memory limit", { seconds: SECONDS }),
    onclick: () => (this.#stop ? this.halt() : this.#start()),
  });
  #status = h("span.fine.cut.charts-seeking", { role: "status" });
  node = h("div.charts-seek", this.#status, this.#button);
  #stop: (() => void) | null = null;
  #turn = 0;

  /** points: those that searches found; again: requests the chart again. */
  constructor(points: () => Point[], again: () => Promise<void>) {
    this.points = points;
    this.again = again;
    this.#report("");
  }

  #report(text: string) {
    setText(this.#status, text);
    setText(this.#button, this.#stop ? t("Stop") : t("Search longer"));
  }

  /** Shown where there is something to search. */
  sync() {
    show(this.node, this.points().length > 0 || this.#stop !== null);
  }

  /** End the search: another chart is shown. */
  halt() {
    this.#turn++;
    this.#stop?.();
    this.#stop = null;
    this.#report("");
  }

  async #start() {
    const turn = ++this.#turn;
    const specs = this.points().map(({ spec }) => ({ ...spec, effort: null }));
    for (const [at, spec] of specs.entries()) {
      const { done, stop } = await search(spec);
      if (turn !== this.#turn) {
        stop();
        return;
      }
      this.#stop = stop;
      this.#report(
        t("{family} within {memory}: {at} of {all}", {
          family: spec.family,
          memory: spec.memory,
          at: at + 1,
          all: specs.length,
        }),
      );
      let problem = await done;
      if (turn !== this.#turn) return;
      problem ||= await this.again().then(() => "", whyFailed);
      if (turn !== this.#turn) return;
      if (problem) {
        this.halt();
        this.#report(problem);
        return;
      }
    }
    this.#stop = null;
    this.#report(t("Searched at every memory limit."));
  }
}

/** Search one spec. Returns done: what went wrong, "" for nothing. */
async function search(spec: Spec): Promise<{ done: Promise<string>; stop: () => void }> {
  const line = await connect().catch(() => null);
  if (!line) return { done: Promise.resolve(t("The server does not answer.")), stop: () => {} };
  let stop = () => {};
  const done = new Promise((resolve) => {
    let id = "";
    const take = (update: { id: string; status: string; error: SpecError | null }) => {
      if (update.id === id && OVER.has(update.status)) end(tr(update.error));
    };
    const lost = () => end(t("The server does not answer.")); // which forgets the search
    const end = (problem: string) => {
      line.off("search", take);
      line.off("disconnect", lost);
      resolve(problem);
    };
    stop = () => {
      line.emit("search_stop", {});
      end("");
    };
    line.on("search", take);
    line.on("disconnect", lost);
    line.timeout(5000).emit("search", { spec, seconds: SECONDS }, (late: unknown, answer: any) => {
      if (late || answer?.error) end(late ? t("The server does not answer.") : tr(answer.error));
      else id = answer.id;
    });
  });
  return { done: done as Promise<string>, stop: () => stop() };
}
