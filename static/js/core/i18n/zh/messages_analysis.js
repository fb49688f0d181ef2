// Messages of the server by their codes: comparisons, claims, sweeps, imports and exports.

/** @type {import("../language.js").Catalogue} */
export const ANALYSIS_MESSAGES = {};
