// The frontier of memory and throughput: which of its points are on the timeline, and longer searches at each memory.
import { connect } from "../../data/runs/client.js";
import { h, setText, show } from "../../ui/dom.js";
import { putOver } from "../../core/drawing/chart_points.js";
import { t, tr } from "../../core/i18n/language.js";
import { specQuery } from "../../core/state/link.js";
import { IDS, dropAt, letter, specsOf } from "../../core/state/schedules.js";

/** @import {Plans} from "../../data/plans.js" */
/** @import {Point, Put} from "../../core/drawing/chart_points.js" */
/** @import {Spec, SpecError} from "../../core/schedule/types.js" */

const SECONDS = 3; // at each memory
const OVER = new Set(["finished", "stopped", "failed"]);

/**
 * The position of the point of each schedule on the timeline, -1 for none.
 * @param {Point[]} points
 * @param {Plans} plans
 */
export function placesIn(points, plans) {
  const { defaults } = plans.store;
  /** @param {Spec} shown */
  const at = (shown) => {
    const query = specQuery(shown, defaults);
    // A limit changes what a search finds; a schedule that is not searched is only checked against it.
    const limit = plans.family(shown.family)?.fields.includes("memory") ? {} : { memory: shown.memory };
    return points.findIndex((point) => specQuery({ ...putOver(point.spec, shown), ...limit }, defaults) === query);
  };
  return specsOf(plans.store.get()).map(at);
}

/** The letter of the schedule that a point is, "" for none. @param {number[]} places @param {number} at */
export const markAt = (places, at) => (places.includes(at) ? letter(places.indexOf(at)) : "");

/** The letter of a schedule that is added; of four, the last is replaced. @param {Plans} plans */
export const nextLetter = (plans) => letter(Math.min(IDS.length - 1, plans.store.get().others.length + 1));

/** Replace the first schedule by a point. @param {Plans} plans @param {Put} put */
export const putFirst = (plans, put) => plans.store.set({ spec: putOver(put, plans.store.get().spec) }, "push");

/**
 * Add a point below the other schedules, or remove it where it is there already.
 * @param {Plans} plans
 * @param {Put} put
 * @param {number} there its position among the schedules, -1 for none
 */
export function putUnder(plans, put, there) {
  const { store } = plans;
  const { spec, others } = store.get();
  if (there > 0) store.set(dropAt(store.get(), there), "push");
  else if (there < 0) store.set({ others: [...others.slice(0, IDS.length - 2), putOver(put, spec)] }, "push");
}

export class FrontierSearch {
  #button = h("button", {
    type: "button",
    class: "button soft",
    id: "charts-seek",
    title: t("Search {seconds} s for a better order at each memory limit", { seconds: SECONDS }),
    onclick: () => (this.#stop ? this.halt() : this.#start()),
  });
  #status = h("span", { class: "fine cut charts-seeking", role: "status" });
  node = h("div", { class: "charts-seek" }, this.#status, this.#button);
  /** @type {(() => void) | null} */
  #stop = null;
  #turn = 0;

  /**
   * @param {() => Point[]} points those that searches found
   * @param {() => Promise<void>} again requests the chart again
   */
  constructor(points, again) {
    this.points = points;
    this.again = again;
    this.#report("");
  }

  /** @param {string} text */
  #report(text) {
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
      const problem = await done;
      if (turn !== this.#turn) return;
      if (problem) {
        this.halt();
        this.#report(tr(problem));
        return;
      }
      await this.again();
      if (turn !== this.#turn) return;
    }
    this.#stop = null;
    this.#report(t("Searched at every memory limit."));
  }
}

/**
 * Search one spec.
 * @param {Spec} spec
 * @returns {Promise<{done: Promise<string>, stop: () => void}>} done: what went wrong, "" for nothing
 */
async function search(spec) {
  const line = await connect();
  let stop = () => {};
  const done = new Promise((resolve) => {
    let id = "";
    /** @param {{id: string, status: string, error: SpecError | null}} update */
    const take = (update) => {
      if (update.id === id && OVER.has(update.status)) end(tr(update.error));
    };
    /** @param {string} problem */
    const end = (problem) => {
      line.off("search", take);
      resolve(problem);
    };
    stop = () => {
      line.emit("search_stop", {});
      end("");
    };
    line.on("search", take);
    line
      .timeout(5000)
      .emit("search", { spec, seconds: SECONDS }, (/** @type {unknown} */ late, /** @type {any} */ answer) => {
        if (late || answer?.error) end(late ? t("The server does not answer.") : tr(answer.error));
        else id = answer.id;
      });
  });
  return { done: /** @type {Promise<string>} */ (done), stop: () => stop() };
}
