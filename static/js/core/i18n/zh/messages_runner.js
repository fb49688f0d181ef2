// Messages of the server by their codes: runs as the runner and its engines tell of them.

/** @type {import("../language.js").Catalogue} */
export const RUNNER_MESSAGES = {};
