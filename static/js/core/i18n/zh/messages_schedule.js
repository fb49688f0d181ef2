// Messages of the server by their codes: orders, specs, options, families, searches and laws.

/** @type {import("../language.js").Catalogue} */
export const SCHEDULE_MESSAGES = {};
