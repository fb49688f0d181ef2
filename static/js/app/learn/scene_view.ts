// The timeline beside a lesson: it takes over a scene's view, its sliders stay free, and a button leads back.
import { loadPrices } from "../../data/costs/pricing.ts";
import { naturalChunks } from "../../data/store.ts";
import { byId, replace, show } from "../../ui/dom.ts";
import { onStage } from "../../ui/frame_loop.ts";
import { parse, type State } from "../../core/state/link.ts";
import type { TimelineView } from "../timeline_view.ts";

type Shown = Pick<TimelineView, "store" | "plans">;

/** The state that a query of a lesson asks for, as the page reads its address, with the prices of a model. */
export async function stateOf(query: string, { store, plans }: Shown): Promise<State> {
  const { state } = parse(query, store.defaults, naturalChunks(plans.families));
  await loadPrices(state, store.defaults);
  return state;
}

const schedules = ({ spec, others }: State) => JSON.stringify([spec, others]);
const STILL = matchMedia("(prefers-reduced-motion: reduce)");

export class SceneView {
  view: TimelineView;
  store: TimelineView["store"];
  back: HTMLElement;
  open: HTMLAnchorElement;

  #scene: HTMLElement | null = null;
  /** The schedules as the scene set them. */
  #set: string | null = null;
  #turn = 0; // of the last wish: an earlier one that is answered later is dropped
  #plays = false;

  constructor(view: TimelineView) {
    this.view = view;
    this.store = view.store;
    this.back = byId("lesson-back");
    this.open = byId("lesson-open") as HTMLAnchorElement;
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

  /** Show a scene's view, unless it is the present one. */
  async take(scene: HTMLElement, again = false) {
    if (scene === this.#scene && !again) return;
    this.#scene?.classList.remove("is-shown");
    this.#scene = scene;
    scene.classList.add("is-shown");
    const caption = scene.querySelector("figcaption > p");
    replace(byId("lesson-caption"), ...[...(caption?.childNodes ?? [])].map((node) => node.cloneNode(true)));
    if (!(await this.visit(scene.dataset.query ?? ""))) return;
    this.#set = schedules(this.store.get());
    show(this.back, false);
    this.#plays = scene.hasAttribute("data-play") && !STILL.matches;
    this.#onDrawn();
  }

  /** Show where the answer to a question is; the way back is to the scene. */
  async answer(place: string, number: number) {
    replace(byId("lesson-caption"), `${byId("lesson-words").dataset.shown} ${number}`);
    if (!(await this.visit(place))) return;
    this.#set = "";
    show(this.back, this.#scene !== null);
  }

  /** Show the view of a query. Returns whether no later wish came between. */
  async visit(query: string): Promise<boolean> {
    const turn = ++this.#turn;
    const { store, view } = this;
    this.#plays = false;
    view.playback.endIntro();
    await stateOf(query, view);
    if (turn === this.#turn) store.visit(query, "none");
    return turn === this.#turn;
  }

  /** A scene that plays begins when its own schedule is there. */
  #onDrawn() {
    const { plans, playback } = this.view;
    if (!this.#plays || !plans.onScreen().every((plan) => plan.times && plan.shown === plan.asked)) return;
    this.#plays = false;
    playback.playIntro();
  }
}
