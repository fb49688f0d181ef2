// What screen readers hear of the timeline: one live region, the last sentence counts.
import { byId, setText } from "./dom.ts";

export const announce = (text: string) => setText(byId("plot-said"), text);
