// What screen readers hear of the timeline: one live region, the last sentence counts.
import { byId, setText } from "./dom.js";

/** @param {string} text */
export const announce = (text) => setText(byId("plot-said"), text);
