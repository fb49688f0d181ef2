// The keys tab: what every key and gesture does, from the table that acts on them.
import { h } from "./dom.js";
import { GESTURES } from "./keys.js";

/** @param {import("./keys.js").Binding[]} bindings */
export function keysPanel(bindings) {
  const line = (/** @type {{show: string, say: string}} */ { show, say }) =>
    h("li", {}, h("span", {}, h("kbd", { text: show })), h("span", { text: say }));
  return h("div", {}, h("ul", { class: "keys" }, ...bindings.map(line), ...GESTURES.map(line)),
    h("p", { class: "note" }, "Marks: ● solid red, what the op needs. ▶ dashed green, what it unblocks. A bar below an op is an input gradient (I), " +
      "above it a weight gradient (W), both a full backward (B); none is a forward (F). A corner above marks a shard of the output " +
      "layer (S), one below its gradients (T). On a copy lane ▲ goes to host memory and ▼ comes back."));
}
