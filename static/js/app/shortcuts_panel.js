// The keys tab: what every key and gesture does, from the table that acts on them.
import { h } from "../ui/dom.js";
import { gestures, parts, touches } from "./keys.js";
import { t } from "../core/i18n/language.js";

/** @typedef {{show: string, say: string}} Line */

/** @param {import("./keys.js").Binding[]} bindings */
export function keysPanel(bindings) {
  const sections = parts().map((part) =>
    section(
      part,
      bindings.filter((each) => each.part === part),
    ),
  );
  return h(
    "div",
    {},
    h(
      "div",
      { class: "keys" },
      ...sections,
      section(t("Mouse and pen"), gestures(), "gestures"),
      section(t("Touch"), touches(), "gestures"),
    ),
    h(
      "p",
      { class: "note" },
      t("Marks: ● solid red, what the op needs. ▶ dashed green, what it unblocks."),
      t(" "),
      t(
        "A bar below an op is an input gradient (I), above it a weight gradient (W), both a full backward (B); none is a forward (F).",
      ),
      t(" "),
      t(
        "Under a run's row, the messages that its rank sends last until they are known to have come, those it receives as long as it waited for them; where they are few, lines lead from sender to receiver.",
      ),
      t(" "),
      t(
        "A corner above marks a shard of the output layer (S), one below its gradients (T). On a copy lane ▲ goes to host memory and ▼ comes back.",
      ),
    ),
  );
}

/** @param {string} title @param {Line[]} lines @param {string} [cls] */
function section(title, lines, cls) {
  return h(
    "section",
    { class: cls },
    h("h3", { text: title }),
    h("ul", {}, ...lines.map(({ show, say }) => h("li", {}, h("kbd", { text: show }), h("span", { text: say })))),
  );
}
