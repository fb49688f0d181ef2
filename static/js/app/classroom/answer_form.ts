// What a student fills in to answer a question of a class, by its kind.
import { createOrder } from "../learn/order_list.ts";
import { selectedPlace } from "../../timeline/explain/selected_place.ts";
import { t } from "../../core/i18n/language.ts";
import { h } from "../../ui/dom.ts";
import type { Question } from "../../data/classroom/classroom.ts";
import type { Place } from "./places.ts";

/** read: the answer as it stands, "" for none. empty: what to say then. */
export type Form = { nodes: HTMLElement[]; read: () => string; empty: string };
type Acts = { place: Place; say: (text: string) => void; send: () => void };

/** own: the answer that was sent before, or "". */
export function createForm(question: Question, own: string, acts: Acts): Form {
  return FORMS[question.kind](question, own, acts);
}

const FORMS = {
  predict({ unit }: Question, own: string, { send }: Acts): Form {
    const box = h("input#class-number", { type: "text", inputmode: "decimal", autocomplete: "off", value: own });
    box.addEventListener("keydown", (event) => {
      if (event.key === "Enter") send();
    });
    const label = h("label.predict", h("span.visually-hidden", { text: t("Your answer") }), box, ` ${unit}`);
    return { nodes: [label], read: () => box.value.trim(), empty: t("Write a number first.") };
  },

  choose({ options, number }: Question, own: string): Form {
    const inputs = options.map((_, at) =>
      h("input", { type: "radio", name: `class-${number}`, value: at, checked: own === String(at) }),
    );
    const node = h(
      "fieldset.class-options",
      h("legend.visually-hidden", { text: t("Options") }),
      ...options.map((text, at) => h("label", inputs[at], h("span", { text }))),
    );
    const read = () => inputs.find((input) => input.checked)?.value ?? "";
    return { nodes: [node], read, empty: t("Choose an option first.") };
  },

  order({ ops }: Question, own: string, { say }: Acts): Form {
    const rows = (own ? own.split(" ") : ops).map((op) =>
      h(
        "li",
        { "data-op": op },
        h("code", { text: op }),
        h("button.button.icon.soft", { "data-move": -1, "aria-label": t("{op}: earlier", { op }) }, "↑"),
        h("button.button.icon.soft", { "data-move": 1, "aria-label": t("{op}: later", { op }) }, "↓"),
      ),
    );
    const list = h("ol.order", ...rows);
    createOrder(list, (op, at) => say(t("{op} is at place {place}.", { op, place: at })));
    const read = () => [...list.children].map((row) => (row as HTMLElement).dataset.op).join(" ");
    return { nodes: [list], read, empty: "" };
  },

  find(_: Question, _own: string, { place }: Acts): Form {
    const read = () => selectedPlace(place.view.selection.current())?.answer ?? "";
    return { nodes: [h("p.class-place.muted")], read, empty: t("Click an op or a gap on the timeline first.") };
  },

  build(_: Question, _own: string, { place }: Acts): Form {
    const empty = t("The order is not complete yet: every op must be on the board.");
    return { nodes: [], read: () => place.order() ?? "", empty };
  },
};
