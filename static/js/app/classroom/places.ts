// The pages that a class may be on, each as a place: what it shows as an address, and how to show another one's.
import { isStory } from "../story.ts";
import { naturalChunks } from "../../data/store.ts";
import { onStage } from "../../ui/frame_loop.ts";
import { withLookOf } from "../../core/state/first_visit.ts";
import { parse, type State } from "../../core/state/link.ts";
import type { Scene } from "../../data/classroom/classroom.ts";
import type { BuildView } from "../build_view.ts";
import type { PageView } from "../page_view.ts";
import type { SceneView } from "../learn/scene_view.ts";
import type { TimelineView } from "../timeline_view.ts";
import type { Run } from "../../data/runs/client.ts";

export type Place = {
  page: string;
  view: TimelineView;
  /** The query of what is shown now, playhead and runs included, and the anchor of a lesson's step. */
  now: () => { query: string; place: string };
  /** Show the same as another page of this address; resolves once it is shown. */
  show: (query: string, place: string) => void | Promise<void>;
  /** Execute the schedule on the screen; null where this page cannot. Resolves with the run once it has begun. */
  run: (() => Promise<void>) | null;
  /** The run on the screen. */
  running: () => Run | null;
  /** The order on the board, packed; null where it is not complete or there is no board. */
  order: () => string | null;
};

const NARROW = matchMedia("(max-width: 719px)");

/** What is drawn, as a link names it: costs that follow from a model are not in it. */
const schedules = ({ spec, others, preset }: State) => JSON.stringify([spec, others, preset]);

/**
 * Take over the view of a query; schedules that stay the same are not timed again. The appearance is one's own, and
 * on a telephone the open tab, which would cover the timeline.
 */
export function takeOver({ store, plans, playback }: TimelineView, query: string) {
  const read = (link: string) => parse(link, store.defaults, naturalChunks(plans.families)).state;
  const next = read(query);
  const { theme, colours, hatch, lang, tab } = store.get().view;
  const view = { ...next.view, theme, colours, hatch, lang, ...(NARROW.matches ? { tab } : {}) };
  playback.endIntro();
  if (schedules(next) === schedules(read(store.search()))) store.setView(view);
  else store.set({ origin: undefined, ...next, view }, "replace");
}

const queryOf = ({ store, playback }: TimelineView) => store.search({ at: playback.at });

export function explorePlace({ view, runs, runTab }: PageView): Place {
  return {
    page: "/",
    view,
    now: () => ({ query: queryOf(view), place: "" }),
    show(query) {
      if (isStory())
        location.assign(`/${query}`); // the first screen has no panels to follow with
      else takeOver(view, query);
    },
    run: async () => void (await runTab.start()),
    running: () => runs.run,
    order: () => null,
  };
}

export function buildPlace(page: BuildView): Place {
  const { view, runs } = page;
  return {
    page: "/build",
    view,
    now: () => ({ query: page.address(), place: "" }),
    show: (query) => page.follow(query),
    run: null,
    running: () => runs.run,
    order: () => page.wholeOrder(),
  };
}

export function lessonPlace(view: TimelineView, scene: SceneView): Place {
  const steps = [...document.querySelectorAll("#lesson .step")] as HTMLElement[];
  const middle = () => innerHeight * 0.45; // as the steps themselves count what is being read
  const reading = () => steps.filter((step) => step.getBoundingClientRect().top < middle()).pop() ?? steps[0];
  return {
    page: location.pathname,
    view,
    now: () => ({ query: queryOf(view), place: reading()?.id ?? "" }),
    show(query, place) {
      const step = place ? document.getElementById(place) : null;
      if (step && step !== reading()) step.scrollIntoView({ behavior: "instant" });
      scene.hold(query);
      takeOver(view, query);
    },
    run: null,
    running: () => null,
    order: () => null,
  };
}

/** Show a scene here, or go to its page. Resolves once it is shown, with whether the page is left. */
export async function goTo(here: Place, { page, query, place }: Scene) {
  if (page === here.page) {
    await here.show(query, place);
    return false;
  }
  const view = page.startsWith("/learn") ? "" : query; // a lesson's address has no view of its own
  location.assign(`${page}${withLookOf(view, location.search)}${place ? `#${place}` : ""}`);
  return true;
}

/**
 * Returns when the reader last did something on the page itself, by performance.now, and a way to forget it once it has
 * had its effect.
 */
export function watchTouches() {
  let last = -Infinity;
  const note = (event: Event) => {
    if (event.isTrusted && !(event.target as Element)?.closest?.(".class-strip, .class-sheet"))
      last = performance.now();
  };
  for (const kind of ["pointerdown", "keydown", "wheel"])
    window.addEventListener(kind, note, { capture: true, passive: true });
  return {
    last: () => last,
    forget: () => {
      last = -Infinity;
    },
  };
}

/** Call a task when what the page shows may have changed: after a frame, and when a lesson is scrolled. */
export function onShown(task: () => void) {
  onStage("overlay", task);
  document.addEventListener("scrollend", task);
}
