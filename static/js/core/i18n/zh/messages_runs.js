// Messages of the server by their codes: the queue, the store and the files of runs.

/** @type {import("../language.js").Catalogue} */
export const RUNS_MESSAGES = {};
