// The timeline beside a lesson: it takes over a scene's view, its sliders stay free, and a button leads back.
import { loadPrices } from "../../data/costs/pricing.ts";
import { naturalChunks } from "../../data/store.ts";
import { byId, replace, show } from "../../ui/dom.ts";
import { onStage } from "../../ui/frame_loop.ts";
import { parse, type State } from "../../core/state/link.ts";
import { traceAt } from "../../timeline/trace.ts";
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

  /** The question whose answer is on the timeline. */
  answered: HTMLElement | null = null;

  #scene: HTMLElement | null = null;
  /** The schedules as the scene set them. */
  #set: string | null = null;
  #turn = 0; // of the last wish: an earlier one that is answered later is dropped
  #plays = false;
  #wait: { rank: number; at: number } | null = null; // to be selected once it is drawn
  #taken: ((node: HTMLElement | null) => void)[] = [];

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

  /** Call a task whenever another scene, or a question of its own view, is on the timeline; null: an answer. */
  onTake(task: (node: HTMLElement | null) => void) {
    this.#taken.push(task);
  }

  /** What has set the view: a scene, or a question of its own view. */
  get scene() {
    return this.#scene;
  }

  /** Whether the schedules of the view are drawn. */
  isSettled() {
    return this.view.plans.onScreen().every((plan) => plan.times && plan.shown === plan.asked);
  }

  /** Whether a reader has changed the scene's schedules. */
  isChanged() {
    return this.#set !== null && schedules(this.store.get()) !== this.#set;
  }

  /** Show a scene's view, unless it is the present one. */
  async take(scene: HTMLElement, again = false) {
    if (scene === this.#scene && !again) return;
    this.answered = null;
    this.#scene?.classList.remove("is-shown");
    this.#scene = scene;
    scene.classList.add("is-shown");
    const caption = scene.querySelector("figcaption > p, .question-text > p");
    replace(byId("lesson-caption"), ...[...(caption?.childNodes ?? [])].map((node) => node.cloneNode(true)));
    if (!(await this.visit(scene.dataset.query ?? ""))) return;
    this.#set = schedules(this.store.get());
    for (const task of this.#taken) task(scene);
    show(this.back, false);
    this.#plays = scene.hasAttribute("data-play") && !STILL.matches;
    this.#onDrawn();
  }

  /** Note that another page's view is shown: the way back leads to the scene. */
  hold(query: string) {
    this.#turn++;
    this.#plays = false;
    this.#wait = null;
    this.#set = null;
    this.back.hidden = query === "" || this.#scene === null;
  }

  /** Show where the answer to a question is, an op or a wait; the way back is to the scene. */
  async answer(place: string, spot: string | null, number: number) {
    this.answered = document.getElementById(`question-${number}`);
    replace(byId("lesson-caption"), `${byId("lesson-words").dataset.shown} ${number}`);
    if (!(await this.visit(place))) return;
    for (const task of this.#taken) task(null);
    const [rank, at] = spot?.split("@").map(Number) ?? [];
    this.#wait = at === undefined ? null : { rank, at };
    this.#set = "";
    show(this.back, this.#scene !== null);
    this.#onDrawn();
  }

  /** Show the view of a query. Returns whether no later wish came between. */
  async visit(query: string): Promise<boolean> {
    const turn = ++this.#turn;
    const { store, view } = this;
    this.#plays = false;
    this.#wait = null;
    view.playback.endIntro();
    await stateOf(query, view);
    if (turn === this.#turn) store.visit(query, "none");
    return turn === this.#turn;
  }

  /** A scene that plays begins when its own schedule is there. */
  #onDrawn() {
    if (!this.isSettled()) return;
    const { playback, selection, timeline } = this.view;
    const [lane] = timeline.lanes;
    if (this.#wait && lane) {
      const { rank, at } = this.#wait;
      this.#wait = null;
      selection.select(traceAt(lane, rank, at));
    }
    if (!this.#plays) return;
    this.#plays = false;
    playback.playIntro();
  }
}
