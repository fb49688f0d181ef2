// Searches longer at each memory of the frontier, one after the other, so that the line fills in. Knows no figure.
import { h, setText, show } from "../../ui/dom.js";
import { t, tr } from "../../core/i18n/language.js";
import { connect } from "../../data/runs/client.js";

/** @import {Point} from "../../core/drawing/chart_points.js" */
/** @import {Spec} from "../../core/schedule/types.js" */

const SECONDS = 3; // at each memory
const OVER = new Set(["finished", "stopped", "failed"]);

export class Seeker {
  #go = h("button", {
    type: "button",
    class: "button soft",
    id: "charts-seek",
    title: t("Search {seconds} s at each memory for something better", { seconds: SECONDS }),
    onclick: () => (this.#stop ? this.halt() : this.#start()),
  });
  #said = h("span", { class: "charts-seeking", role: "status" });
  node = h("div", { class: "charts-seek" }, this.#said, this.#go);
  /** @type {(() => void) | null} */
  #stop = null;
  #turn = 0;

  /**
   * @param {() => Point[]} points those that were found
   * @param {() => Promise<void>} again the figure is out of date
   */
  constructor(points, again) {
    this.points = points;
    this.again = again;
    this.#say("");
  }

  /** @param {string} text */
  #say(text) {
    setText(this.#said, text);
    setText(this.#go, this.#stop ? t("Stop") : t("Search longer"));
  }

  /** Is there anything to search? */
  sync() {
    show(this.node, this.points().length > 0 || this.#stop !== null);
  }

  /** What was asked for is no longer what is shown. */
  halt() {
    this.#turn++;
    this.#stop?.();
    this.#stop = null;
    this.#say("");
  }

  async #start() {
    const turn = ++this.#turn;
    const specs = this.points().map(({ spec }) => ({ ...spec, effort: null }));
    for (const [at, spec] of specs.entries()) {
      const { done, stop } = await searched(spec);
      if (turn !== this.#turn) {
        stop();
        return;
      }
      this.#stop = stop;
      this.#say(
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
        this.#say(tr(problem));
        return;
      }
      await this.again();
      if (turn !== this.#turn) return;
    }
    this.#stop = null;
    this.#say(t("Searched at every memory."));
  }
}

/**
 * One search, told only of its end.
 * @param {Spec} spec
 * @returns {Promise<{done: Promise<string>, stop: () => void}>} done: what went wrong, "" for nothing
 */
async function searched(spec) {
  const line = await connect();
  let stop = () => {};
  const done = new Promise((resolve) => {
    let id = "";
    /** @param {{id: string, status: string, error: {message: string} | null}} told */
    const take = (told) => {
      if (told.id === id && OVER.has(told.status)) end(tr(told.error));
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
