// The one state of the page. All of it is in the URL: steps a reader would want back are pushed, drags replace.
import { mapSpecs, specAt } from "../core/state/schedules.js";
import { format, parse } from "../core/state/link.js";

/** @import {Spec} from "../core/schedule/types.js" */
/** @import {State} from "../core/state/link.js" */
/** @typedef {"push" | "replace" | "none"} How */
/** @typedef {(state: State, before: State) => void} Listener */
/** @typedef {(next: State, before: State) => State} Complete */
/**
 * @typedef {{change: Complete, restore: Complete, abridge: (state: State) => State}} Derives what follows from other
 *   parts of the state: filled in at every change, and at a step back or forward, and left out of a link
 */

const REPLACE_AFTER = 250; // ms of rest; browsers throttle history calls, and a drag would make one a frame

/** The address bar: written at once, or when a drag rests. @param {() => string} url what it should say */
function createAddress(url) {
  let timer = 0;

  function rest() {
    clearTimeout(timer);
    timer = 0;
  }

  /** @param {"pushState" | "replaceState"} how */
  function write(how) {
    if (how === "replaceState") rest();
    if (location.pathname + location.search !== url()) history[how](null, "", url());
  }

  return {
    rest,
    push: () => write("pushState"),
    /** Write what waits. */
    flush: () => {
      if (timer) write("replaceState");
    },
    later() {
      clearTimeout(timer);
      timer = window.setTimeout(() => write("replaceState"), REPLACE_AFTER);
    },
  };
}

/**
 * What was found for a spec is not what would be found for another: effort goes with the first change of anything else.
 * @param {State} next
 * @param {State} before
 * @returns {State}
 */
function unsought(next, before) {
  const { spec, others } = mapSpecs(next, (now, at) => {
    const then = specAt(before, at);
    return !then || now === then || now.effort === null || now.effort !== then.effort ? now : { ...now, effort: null };
  });
  return spec === next.spec && others === next.others ? next : { ...next, spec, others };
}

/** @param {Spec} defaults @param {Record<string, number>} natural v of a family when the link names none
 * @param {string | null} [fixed] the query to begin with, where the address is not this page's to read or write */
export function createStore(defaults, natural, fixed = null) {
  const read = () => parse(fixed ?? location.search, defaults, natural);
  const first = read();
  let { state } = first;
  /** @type {Listener[]} */
  const listeners = [];
  /** @type {Derives} */
  let derives = { change: (next) => next, restore: (next) => next, abridge: (each) => each };

  /** The query of this view. @param {Partial<State["view"]>} [but] as if these had changed */
  const search = (but) => format(derives.abridge({ ...state, view: { ...state.view, ...but } }), defaults, natural);
  const url = () => location.pathname + search();
  const address = createAddress(url);

  /** @param {State} next */
  function become(next) {
    const before = state;
    state = next;
    for (const listener of listeners) listener(state, before);
  }

  /** @param {Partial<State>} patch @param {How} how */
  function set(patch, how = "replace") {
    if (how === "push") address.flush();
    become(derives.change(unsought({ ...state, ...patch }, state), state));
    if (fixed !== null) return;
    if (how === "push") address.push();
    else if (how === "replace") address.later();
  }

  /** @param {Partial<State["view"]>} patch @param {How} [how] */
  const setView = (patch, how = "replace") => set({ view: { ...state.view, ...patch } }, how);

  if (fixed === null) {
    window.addEventListener("popstate", () => {
      address.rest();
      become(derives.restore(read().state, state));
    });
    window.addEventListener("pagehide", address.flush);
  }

  return {
    get: () => state,
    set,
    setView,
    defaults,
    /** Let a part of the page derive what follows from the rest. @param {Derives} by */
    deriveBy: (by) => {
      derives = by;
    },
    /** what the first URL got wrong */
    problems: first.problems,
    search,
    /** the link to this view */
    link: () => location.origin + url(),
    /** @param {Listener} listener */
    subscribe: (listener) => {
      listeners.push(listener);
    },
  };
}

/** @typedef {ReturnType<typeof createStore>} Store */
