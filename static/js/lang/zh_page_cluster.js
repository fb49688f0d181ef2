// The cluster that runs are on: its hosts, its links, and which rank sits where.

/** @type {import("../pure/lang.js").Catalogue} */
export const CLUSTER = {
};
