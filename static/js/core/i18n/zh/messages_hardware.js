// Messages of the server by their codes: models, machines, estimates and balance.

/** @type {import("../language.js").Catalogue} */
export const HARDWARE_MESSAGES = {};
