// The one state of the page. All of it is in the URL: steps a reader would want back are pushed, drags replace.
import { format, parse } from "./pure/url.js";

/** @import {Spec} from "./pure/types.js" */
/** @import {State} from "./pure/url.js" */
/** @typedef {"push" | "replace" | "none"} How */
/** @typedef {(state: State, before: State) => void} Listener */

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
    flush: () => { if (timer) write("replaceState"); },
    later() {
      clearTimeout(timer);
      timer = window.setTimeout(() => write("replaceState"), REPLACE_AFTER);
    },
  };
}

/** @param {Spec} defaults @param {Record<string, number>} natural v of a family when the link names none */
export function createStore(defaults, natural) {
  const read = () => parse(location.search, defaults, natural);
  const first = read();
  let { state } = first;
  /** @type {Listener[]} */
  const listeners = [];
  /** @type {(next: State, before: State) => State} */
  let adapt = (next) => next;

  const url = () => location.pathname + format(state, defaults, natural);
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
    become(adapt({ ...state, ...patch }, state));
    if (how === "push") address.push();
    else if (how === "replace") address.later();
  }

  /** @param {Partial<State["view"]>} patch @param {How} [how] */
  const setView = (patch, how = "replace") => set({ view: { ...state.view, ...patch } }, how);

  window.addEventListener("popstate", () => {
    address.rest();
    become(read().state);
  });
  window.addEventListener("pagehide", address.flush);

  return {
    get: () => state,
    set,
    setView,
    defaults,
    /** Let a part complete every change before it happens, but for the steps back and forward. @param {typeof adapt} by */
    adaptBy: (by) => { adapt = by; },
    /** what the first URL got wrong */
    problems: first.problems,
    /** the link to this view */
    link: () => location.origin + url(),
    /** @param {Listener} listener */
    subscribe: (listener) => { listeners.push(listener); },
  };
}

/** @typedef {ReturnType<typeof createStore>} Store */
