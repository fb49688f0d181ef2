// A worker of its own: constructs orders that take long while the page goes on drawing.
import { completeOrder } from "../../core/families/base_order.js";

addEventListener("message", (/** @type {MessageEvent<import("../../core/schedule/types.js").Spec>} */ { data }) => {
  postMessage(completeOrder(data));
});
