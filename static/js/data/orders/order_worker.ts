// A worker of its own: constructs orders that take long while the page goes on drawing.
import { completeOrder } from "../../core/families/base_order.ts";
import type { Spec } from "../../core/schedule/types.ts";

addEventListener("message", ({ data }: MessageEvent<Spec>) => {
  postMessage(completeOrder(data));
});
