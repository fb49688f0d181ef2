// Messages of the server by their codes: figures, axes and what a point says.

/** @type {import("../language.js").Catalogue} */
export const CHARTS_MESSAGES = {};
