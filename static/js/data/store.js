// The one state of the page. All of it is in the URL: steps worth a Back are pushed to the history, drags replace.
import { mapSpecs, specAt } from "../core/state/schedules.js";
import { format, parse } from "../core/state/link.js";
import { familyNamed } from "../core/state/link_fields.js";

/** @import {Family, Spec} from "../core/schedule/types.js" */
/** @import {State} from "../core/state/link.js" */
/** @typedef {"push" | "replace" | "none"} How */
/** @typedef {(state: State, before: State) => void} Listener */
/** @typedef {(next: State, before: State) => State} Derive */
/**
 * @typedef {object} Derivations  parts of the state that follow from other parts
 * @property {Derive} change   fills them in after a change
 * @property {Derive} restore  fills them in where a link is read: at the start, and at steps back and forward
 * @property {(state: State) => State} abridge  leaves them out of a link
 */
/**
 * @typedef {object} Setup
 * @property {Spec} defaults
 * @property {Record<string, number>} natural  v of a family where a link names none
 * @property {Derivations} [derivations]
 * @property {string | null} [fixed]  the query to begin with, where the address bar is not this page's to read or write
 */
/** @type {Derivations} */
const NOTHING_DERIVED = { change: (next) => next, restore: (next) => next, abridge: (state) => state };

const REPLACE_AFTER = 250; // ms of rest; browsers throttle history calls, and a drag would make one a frame

/** v of each family where a link names none. @param {Family[]} families @returns {Record<string, number>} */
export const naturalChunks = (families) =>
  Object.fromEntries(families.map((family) => [family.name, family.v.default]));

/** The address bar: written at once, or when a drag rests. @param {() => string} url what it should show */
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
 * Drop the effort of a search when anything else of its spec changes: the order it found belongs to the old spec.
 * @param {State} next
 * @param {State} before
 * @returns {State}
 */
function withoutOldSearches(next, before) {
  const { spec, others } = mapSpecs(next, (now, at) => {
    const then = specAt(before, at);
    return !then || now === then || now.effort === null || now.effort !== then.effort ? now : { ...now, effort: null };
  });
  return spec === next.spec && others === next.others ? next : { ...next, spec, others };
}

/** Whether a query has another than a family's own name. @param {string} query */
const namesOtherwise = (query) =>
  [...new URLSearchParams(query)].some(([key, text]) => /^([bcd]\.)?family$/.test(key) && familyNamed(text) !== text);

/** @param {Setup} setup */
export function createStore({ defaults, natural, derivations = NOTHING_DERIVED, fixed = null }) {
  const read = () => parse(fixed ?? location.search, defaults, natural);
  const first = read();
  let state = derivations.restore(first.state, first.state);
  /** @type {Listener[]} */
  const listeners = [];

  /** The query of this view. @param {Partial<State["view"]>} [but] as if these had changed */
  const search = (but) => format(derivations.abridge({ ...state, view: { ...state.view, ...but } }), defaults, natural);
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
    become(derivations.change(withoutOldSearches({ ...state, ...patch }, state), state));
    if (fixed !== null) return;
    if (how === "push") address.push();
    else if (how === "replace") address.later();
  }

  /** @param {Partial<State["view"]>} patch @param {How} [how] */
  const setView = (patch, how = "replace") => set({ view: { ...state.view, ...patch } }, how);

  if (fixed === null) {
    window.addEventListener("popstate", () => {
      address.rest();
      become(derivations.restore(read().state, state));
    });
    window.addEventListener("pagehide", address.flush);
  }

  if (fixed === null && namesOtherwise(location.search)) address.later();

  return {
    get: () => state,
    set,
    setView,
    defaults,
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
