// The timeline beside a lesson: it takes over a scene's view, its sliders stay free, and a button leads back.
import { loadPrices } from "../../data/costs/pricing.js";
import { naturalChunks } from "../../data/store.js";
import { byId, replace, setText, show } from "../../ui/dom.js";
import { onStage } from "../../ui/frame_loop.js";
import { t } from "../../core/i18n/language.js";
import { formatNumber, formatPercent } from "../../core/i18n/numbers.js";
import { parse } from "../../core/state/link.js";

/** @import {State} from "../../core/state/link.js" */
/** @import {Plan} from "../../data/plan.js" */
/** @import {TimelineView} from "../timeline_view.js" */

const STILL = matchMedia("(prefers-reduced-motion: reduce)");

export class SceneView {
  /** @type {HTMLElement | null} */
  #scene = null;
  /** @type {State | null} as the scene set it */
  #set = null;
  #turn = 0; // of the last wish: an earlier one that is answered later is dropped
  #plays = false;

  /** @param {TimelineView} view */
  constructor(view) {
    this.view = view;
    this.store = view.store;
    this.back = byId("lesson-back");
    this.open = /** @type {HTMLAnchorElement} */ (byId("lesson-open"));
    this.back.addEventListener("click", () => {
      if (this.#scene) this.take(this.#scene, true);
    });
    for (const kind of ["pointerenter", "pointerdown", "focus", "click", "contextmenu"])
      this.open.addEventListener(kind, () => {
        this.open.href = `/${this.store.search({ at: view.playback.at })}`;
      });
    this.store.subscribe((state) => {
      const changed = this.#set !== null && (state.spec !== this.#set.spec || state.others !== this.#set.others);
      show(this.back, changed);
    });
    onStage("figures", () => this.#onDrawn());
  }

  /** Show a scene's view, unless it is the present one. @param {HTMLElement} scene @param {boolean} [again] */
  async take(scene, again = false) {
    if (scene === this.#scene && !again) return;
    this.#scene?.classList.remove("is-shown");
    this.#scene = scene;
    scene.classList.add("is-shown");
    const caption = scene.querySelector("figcaption > p");
    replace(byId("lesson-caption"), ...[...(caption?.childNodes ?? [])].map((node) => node.cloneNode(true)));
    await this.visit(scene.dataset.query ?? "");
    this.#set = this.store.get();
    show(this.back, false);
    this.#plays = scene.hasAttribute("data-play") && !STILL.matches;
    this.#onDrawn();
  }

  /** Show the view of a query. @param {string} query */
  async visit(query) {
    const turn = ++this.#turn;
    const { store, view } = this;
    this.#plays = false;
    view.playback.endIntro();
    const { state } = parse(query, store.defaults, naturalChunks(view.plans.families));
    await loadPrices(state, store.defaults);
    if (turn === this.#turn) store.visit(query, "none");
  }

  /** The figures of what is drawn; a scene that plays begins when its own schedule is there. */
  #onDrawn() {
    const { plans, playback } = this.view;
    const shown = plans.onScreen();
    setText(
      byId("lesson-figures"),
      shown
        .map((plan) => this.#figures(plan))
        .filter(Boolean)
        .join(" · "),
    );
    if (!this.#plays || !shown.every((plan) => plan.times && plan.shown === plan.asked)) return;
    this.#plays = false;
    playback.playIntro();
  }

  /** @param {Plan} plan */
  #figures({ shown, figures, memory }) {
    if (!shown || !figures) return "";
    return t("{title}: bubble {bubble}, step time {time}, peak memory {memory} micro-batches' activations", {
      title: this.view.plans.family(shown.family)?.title ?? shown.family,
      bubble: formatPercent(figures.bubble.global.ofTotal),
      time: formatNumber(figures.makespan),
      memory: formatNumber(memory),
    });
  }
}
