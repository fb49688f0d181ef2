// The one state of the page. All of it is in the URL: steps a reader would want back are pushed, drags replace.
import { format, parse } from "./pure/url.js";

/** @import {Spec} from "./pure/types.js" */
/** @import {State} from "./pure/url.js" */
/** @typedef {"push" | "replace" | "none"} How */
/** @typedef {(state: State, before: State) => void} Listener */

const REPLACE_AFTER = 250; // ms of rest; browsers throttle history calls, and a drag would make one a frame

/** @param {Spec} defaults @param {Record<string, number>} natural v of a family when the link names none */
export function createStore(defaults, natural) {
  const read = () => parse(location.search, defaults, natural);
  const first = read();
  let state = first.state;
  let timer = 0;
  /** @type {Listener[]} */
  const listeners = [];

  const url = () => location.pathname + format(state, defaults, natural);

  function writeNow() {
    clearTimeout(timer);
    timer = 0;
    if (location.pathname + location.search !== url()) history.replaceState(null, "", url());
  }

  /** @param {State} next */
  function become(next) {
    const before = state;
    state = next;
    for (const listener of listeners) listener(state, before);
  }

  /** @param {Partial<State>} patch @param {How} how */
  function set(patch, how = "replace") {
    if (how === "push" && timer) writeNow();
    become({ ...state, ...patch });
    if (how === "push") {
      if (location.pathname + location.search !== url()) history.pushState(null, "", url());
    } else if (how === "replace") {
      clearTimeout(timer);
      timer = window.setTimeout(writeNow, REPLACE_AFTER);
    }
  }

  /** @param {Partial<State["view"]>} patch @param {How} [how] */
  const setView = (patch, how = "replace") => set({ view: { ...state.view, ...patch } }, how);

  window.addEventListener("popstate", () => {
    clearTimeout(timer);
    timer = 0;
    become(read().state);
  });
  window.addEventListener("pagehide", () => { if (timer) writeNow(); });

  return {
    get: () => state,
    set,
    setView,
    defaults,
    /** what the first URL got wrong */
    problems: first.problems,
    /** the link to this view */
    link: () => location.origin + url(),
    /** @param {Listener} listener */
    subscribe: (listener) => { listeners.push(listener); },
  };
}

/** @typedef {ReturnType<typeof createStore>} Store */
