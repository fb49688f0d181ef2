// The one state of the page. All of it is in the URL: each finished gesture that changes a schedule is one step of the
// browser's history, which undo and redo go through as Back and Forward do; zoom and selection replace the last step.
import { afterPaint } from "../ui/frame_loop.ts";
import { mapSpecs, specAt } from "../core/state/schedules.ts";
import { explicit, isFirstVisit, lookOf, queryOf } from "../core/state/first_visit.ts";
import { format, isPlainView, parse, type State } from "../core/state/link.ts";
import { familyNamed } from "../core/state/link_fields.ts";
import type { Family, Spec } from "../core/schedule/types.ts";

/** gesture: a drag, a key held down, one of many changes that make one step of the history. */
type How = "push" | "gesture" | "replace" | "none";
type Listener = (state: State, before: State) => void;
type Derive = (next: State, before: State) => State;
/** Parts of the state that follow from other parts. */
type Derivations = {
  change: Derive; // fills them in after a change
  restore: Derive; // fills them in where a link is read: at the start, and at steps back and forward
  abridge: (state: State) => State; // leaves them out of a link
};
type Setup = {
  defaults: Spec;
  natural: Record<string, number>; // v of a family where a link names none
  derivations?: Derivations;
  fixed?: string | null; // the query to begin with, where the address bar is not this page's to read or write
};
const NOTHING_DERIVED: Derivations = { change: (next) => next, restore: (next) => next, abridge: (state) => state };

const REPLACE_AFTER = 250; // ms of rest; browsers throttle history calls, and a drag would make one a frame
const GESTURE_ENDS_AFTER = 600; // ms of rest with no button down: keys and wheels make several changes of one gesture

/** v of each family where a link names none. */
export const naturalChunks = (families: Family[]): Record<string, number> =>
  Object.fromEntries(families.map((family) => [family.name, family.v.default]));

/** The address bar: written at once, once the frame is painted, or when a drag rests. url: what it should show. */
function createAddress(url: () => string) {
  let timer = 0;
  let pushing = false; // a step of the history waits for the frame

  function rest() {
    clearTimeout(timer);
    timer = 0;
    pushing = false;
  }

  /** How many steps of this page are before the present one; other pages of the browser's history are not counted. */
  const steps = () => Number(history.state?.steps) || 0;

  function write(how: "pushState" | "replaceState") {
    if (how === "replaceState") rest();
    pushing = false;
    const next = { steps: how === "pushState" ? steps() + 1 : steps() };
    if (location.pathname + location.search !== url()) history[how](next, "", url());
  }

  return {
    rest,
    steps,
    push: () => write("pushState"),
    /** Push after the frame: it takes a millisecond of the first one of a drag. */
    pushSoon() {
      pushing = true;
      afterPaint(() => {
        if (pushing) write("pushState");
      });
    },
    /** Write what waits. */
    flush: () => {
      if (pushing) write("pushState");
      if (timer) write("replaceState");
    },
    later() {
      clearTimeout(timer);
      timer = window.setTimeout(() => write("replaceState"), REPLACE_AFTER);
    },
  };
}

/** Tells the first change of a gesture from those that follow, while a button is down or the last was a moment ago. */
function createGesture() {
  let [down, last] = [false, -Infinity];
  const now = () => performance.now();
  const press = (pressed: boolean) => () => {
    down = pressed;
    if (pressed)
      last = -Infinity; // another gesture
    else if (last > -Infinity) last = now();
  };
  window.addEventListener("pointerdown", press(true), true);
  window.addEventListener("pointerup", press(false), true);
  window.addEventListener("pointercancel", press(false), true);
  window.addEventListener("focusin", end); // another field, another gesture
  function end() {
    last = -Infinity;
  }
  return {
    /** Note a change; whether it is the first. */
    begins() {
      const first = last === -Infinity || (!down && now() - last > GESTURE_ENDS_AFTER);
      last = now();
      return first;
    },
    end,
  };
}

/** Drop the effort of a search when anything else of its spec changes: the order it found belongs to the old spec. */
function withoutOldSearches(next: State, before: State): State {
  const { spec, others } = mapSpecs(next, (now, at) => {
    const then = specAt(before, at);
    return !then || now === then || now.effort === null || now.effort !== then.effort ? now : { ...now, effort: null };
  });
  return spec === next.spec && others === next.others ? next : { ...next, spec, others };
}

/** Whether a query has another than a family's own name. */
const namesOtherwise = (query: string) =>
  [...new URLSearchParams(query)].some(([key, text]) => /^([bcd]\.)?family$/.test(key) && familyNamed(text) !== text);

export function createStore({ defaults, natural, derivations = NOTHING_DERIVED, fixed = null }: Setup) {
  const read = () => parse(fixed ?? queryOf(location.search), defaults, natural);
  const first = read();
  let state = derivations.restore(first.state, first.state);
  let problems = first.problems;
  const listeners: Listener[] = [];

  /** The query of this view. but: as if these had changed. */
  const search = (but?: Partial<State["view"]>) =>
    explicit(
      format(derivations.abridge({ ...state, view: { ...state.view, ...but } }), defaults, natural),
      defaults.family,
    );
  let named = fixed !== null || !isFirstVisit(location.search); // whether the address names the view
  const plain = named ? undefined : first.state.view;
  const url = () => location.pathname + (named ? search() : lookOf(search()));
  const address = createAddress(url);
  const gesture = createGesture();

  function become(next: State) {
    const before = state;
    state = next;
    for (const listener of listeners) listener(state, before);
  }

  function set(patch: Partial<State>, how: How = "replace") {
    const step = fixed === null && (how === "push" || (how === "gesture" && gesture.begins()));
    if (how === "push") gesture.end();
    if (step) address.flush();
    if (how !== "none") named ||= step || !isPlainView({ ...state.view, ...patch.view }, plain);
    const next = derivations.change(withoutOldSearches({ ...state, ...patch }, state), state);
    if (next.spec !== state.spec || next.others !== state.others) problems = [];
    become(next);
    if (step && how === "gesture") address.pushSoon();
    else if (step) address.push();
    else if (fixed === null && how !== "none") address.later();
  }

  const setView = (patch: Partial<State["view"]>, how: How = "replace") =>
    set({ view: { ...state.view, ...patch } }, how);

  if (fixed === null) {
    window.addEventListener("popstate", () => {
      address.rest();
      gesture.end();
      named = !isFirstVisit(location.search);
      const there = read();
      problems = there.problems;
      become(derivations.restore(there.state, state));
    });
    window.addEventListener("pagehide", address.flush);
  }

  if (fixed === null && namesOtherwise(location.search)) address.later();

  /** Show the view of a query; the appearance stays. */
  function visit(query: string, how: How = "push") {
    const { state: next } = parse(query, defaults, natural);
    const { theme, colours, hatch, lang } = state.view;
    set({ origin: undefined, ...next, view: { ...next.view, theme, colours, hatch, lang } }, how);
  }

  return {
    get: () => state,
    set,
    setView,
    visit,
    /** Whether the view has schedules and an appearance, and nothing that points to a part of it. */
    plainView: () => isPlainView(state.view, plain),
    defaults,
    /** What the address got wrong, until another schedule is asked for. */
    problems: () => problems,
    search,
    /** One gesture back; at the first one of this page it stays. */
    undo() {
      address.flush();
      if (address.steps() > 0) history.back();
    },
    redo: () => history.forward(),
    /** the link to this view */
    link: () => new URL(location.pathname + search(), location.href).href,
    subscribe: (listener: Listener) => {
      listeners.push(listener);
    },
  };
}

export type Store = ReturnType<typeof createStore>;
