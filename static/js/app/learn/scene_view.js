// The timeline beside a lesson: it takes over a scene's view, its sliders stay free, and a button leads back.
import { loadPrices } from "../../data/costs/pricing.js";
import { naturalChunks } from "../../data/store.js";
import { byId, replace, show } from "../../ui/dom.js";
import { onStage } from "../../ui/frame_loop.js";
import { parse } from "../../core/state/link.js";

/** @import {State} from "../../core/state/link.js" */
/** @import {TimelineView} from "../timeline_view.js" */

/** @param {State} state */
const schedules = ({ spec, others }) => JSON.stringify([spec, others]);
const STILL = matchMedia("(prefers-reduced-motion: reduce)");

export class SceneView {
  /** @type {HTMLElement | null} */
  #scene = null;
  /** @type {string | null} the schedules as the scene set them */
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
      show(this.back, this.#set !== null && schedules(state) !== this.#set);
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
    this.#set = schedules(this.store.get());
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

  /** A scene that plays begins when its own schedule is there. */
  #onDrawn() {
    const { plans, playback } = this.view;
    if (!this.#plays || !plans.onScreen().every((plan) => plan.times && plan.shown === plan.asked)) return;
    this.#plays = false;
    playback.playIntro();
  }
}
