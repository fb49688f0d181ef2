// The switches of what the timeline explains on demand: critical path, a followed micro-batch, messages, narration.
// Buttons and keys do the same; the state is the link's.
import { byId, h, icon, iconButton, setText } from "../../ui/dom.ts";
import { microsOf } from "../../core/explain/micro_batch_path.ts";
import { t } from "../../core/i18n/language.ts";
import type { Binding } from "../../ui/keyboard.ts";
import type { Lane } from "../../data/lanes.ts";
import type { Store } from "../../data/store.ts";
import type { Trace } from "../trace.ts";

/** traced: what is hovered, else selected. */
type Parts = { store: Store; lanes: () => Lane[]; traced: () => Trace | null };

const PATH = "M1 10h4.6l3.5-7H15v2.4h-4.4L7.1 12.4H1z";
const STEPS = "M1 1.5h5v3.4H1zM5.5 6.3h5v3.4h-5zM10 11.1h5v3.4h-5z";
const MESSAGES = "M1 4h9V1.6L14.6 5 10 8.4V6H1zM15 12H6v2.4L1.4 11 6 7.6V10h9z";
const TELL = "M1.5 2h13v9.5H7.2L3.6 15v-3.5H1.5z";

/** What the switches do. */
function createActs({ store, lanes, traced }: Parts) {
  const view = () => store.get().view;
  return {
    path: () => store.setView({ crit: view().crit ? null : "1" }),
    mail: () => store.setView({ lane: view().lane ? null : "comm" }),
    tell: () => store.setView({ story: view().story === "0" ? null : "0" }),

    /** Follow the op's micro-batch; a pair's other one the second time; the one that is followed no more. */
    follow() {
      const trace = traced();
      const now = view().micro;
      const choice = trace?.op ? microsOf(trace.lane.schedule, trace.op.i) : [now ?? 0];
      const next = now === null ? choice[0] : choice[choice.indexOf(now) + 1];
      store.setView({ micro: next ?? null });
    },

    other(way: 1 | -1) {
      const now = view().micro;
      const all = lanes().reduce((most, { schedule }) => Math.max(most, schedule.m), 1);
      store.setView({ micro: now === null ? 0 : (Math.min(now, all - 1) + way + all) % all });
    },
  };
}

export function createToggles(parts: Parts) {
  const acts = createActs(parts);
  const crit = toggle(
    "crit",
    t("Critical"),
    t(
      "Critical path: the chain of ops that decides how long the step takes; only a shorter op on it can shorten " +
        "the step (C)",
    ),
    PATH,
    acts.path,
  );
  const followed = toggle(
    "micro",
    t("Micro-batch"),
    t("Follow a micro-batch: the selected op's, or the first (T)"),
    STEPS,
    acts.follow,
  );
  const messages = toggle("mail", t("Messages"), t("Messages of each rank under its row (L)"), MESSAGES, acts.mail);
  byId("transport").append(crit, followed, messages);
  const story = iconButton(TELL, t("Narration"), acts.tell, t("Describe what happens (N)"));
  story.id = "tell";
  story.classList.add("tell");
  const { stepper, number } = createStepper(acts.other);

  return {
    story,
    stepper,
    keys: () => keysOf(acts),
    sync() {
      const view = parts.store.get().view;
      press(crit, view.crit !== null);
      press(followed, view.micro !== null);
      press(messages, view.lane !== null);
      press(story, view.story !== "0");
      stepper.hidden = view.micro === null;
      setText(number, String(view.micro ?? ""));
    },
  };
}

function createStepper(other: (way: 1 | -1) => void) {
  const number = h("b", { id: "followed" });
  const button = (title: string, key: string, way: 1 | -1, text: string) =>
    h(
      "button",
      {
        type: "button",
        class: "button icon",
        "aria-label": title,
        title: `${title} (${key})`,
        onclick: () => other(way),
      },
      text,
    );
  const stepper = h(
    "span",
    { class: "stepper", role: "group", "aria-label": t("Micro-batch that is followed") },
    button(t("Previous micro-batch"), "[", -1, "‹"),
    number,
    button(t("Next micro-batch"), "]", 1, "›"),
  );
  return { stepper, number };
}

function keysOf({ path, follow, other, mail, tell }: ReturnType<typeof createActs>): Binding[] {
  const section = t("Explain");
  const key = (label: string, description: string, act: () => void): Binding => {
    const keys = [...new Set([label.toLowerCase(), label])];
    return { section, keys, label, description, act };
  };
  return [
    key("C", t("the critical path: show and hide"), path),
    key("T", t("follow the micro-batch of the op under the pointer, or of the selected one"), follow),
    key("[", t("follow the previous micro-batch"), () => other(-1)),
    key("]", t("follow the next micro-batch"), () => other(1)),
    key("L", t("the messages of each rank: show and hide"), mail),
    key("N", t("tell what happens at the playhead: on and off"), tell),
  ];
}

const press = (button: HTMLElement, on: boolean) => button.setAttribute("aria-pressed", String(on));

function toggle(id: string, text: string, title: string, path: string, act: () => void) {
  return h(
    "button",
    { type: "button", class: "button highlight-toggle", id, title, "aria-label": text, onclick: act },
    icon(path),
    h("span", { text }),
  );
}
