// The question of a class, over the page it is about: a student answers it, a leader closes and reveals it.
import { createForm, type Form } from "./answer_form.ts";
import { byPlace, createSpots } from "./spots.ts";
import { drawTally } from "../../panels/classroom/tally.ts";
import { whyFailed } from "../../data/api.ts";
import { selectedPlace } from "../../timeline/explain/selected_place.ts";
import { t } from "../../core/i18n/language.ts";
import { h, isNew, replace, setText, show } from "../../ui/dom.ts";
import { invalidate, onStage } from "../../ui/frame_loop.ts";
import { getTask, textOf } from "../../data/workbench/tasks.ts";
import type { Question } from "../../data/classroom/classroom.ts";
import type { State } from "../../core/state/link.ts";
import type { Timeline } from "../../timeline/timeline.ts";
import type { Strip } from "./strip.ts";

type Child = HTMLElement | string | null;
type Acts = {
  /** What a leader can do with a question; a student has its answer instead. */
  controls?: (question: Question) => Child[];
  /** To the board of a task. */
  toBoard?: (task: string) => void;
};

export function createSheet(strip: Strip, { controls, toBoard = () => {} }: Acts) {
  const { room, place } = strip;
  const spots = createSpots(place.view.timeline);
  const status = h("p.class-status", { role: "status" });
  const body = h("div.class-body");
  const buttons = h("div.row.class-ways");
  const fold = h(
    "button.button.icon.class-fold",
    { "aria-label": t("Fold the question"), onclick: () => setFolded() },
    "–",
  );
  const node = h("section.class-sheet", { "aria-label": t("Question"), hidden: true }, fold, body, buttons, status);
  let question: Question | null = null;
  let folded = false;
  let form: Form | null = null;
  document.body.append(node);

  room.onChange((what) => {
    if (what === "state" || what === "room" || what === "over") write();
  });
  onStage("figures", () => {
    if (question?.kind === "find" && question.open && !controls) sayPlace();
  });

  function setFolded(next = !folded) {
    folded = next;
    node.classList.toggle("is-folded", folded);
    fold.setAttribute("aria-label", folded ? t("Show the question") : t("Fold the question"));
    fold.textContent = folded ? "+" : "–";
  }

  function write() {
    const next = room.state?.question ?? null;
    show(node, next !== null && !room.over);
    const isOther = next?.number !== question?.number || next?.round !== question?.round;
    question = next;
    if (isOther) setFolded(false);
    if (!next) {
      isNew(body, null);
      return spots.hide();
    }
    if (isNew(body, [next.number, next.round, next.open, next.revealed])) {
      replace(body, ...bodyOf(next));
      setText(status, "");
      if (next.kind === "find") invalidate("figures");
    }
    if (next.kind === "find" && next.revealed)
      spots.show(next.revealed.tally, next.revealed.answered, next.revealed.right);
    else spots.hide();
    writeButtons(next);
  }

  function bodyOf(next: Question): Child[] {
    const head = h("p.question-number", { text: next.round > 1 ? t("Question, once more") : t("Question") });
    const text = h("p.class-text", { text: next.text });
    if (next.kind === "build") void nameTask(next.task, text);
    if (next.revealed) return [head, text, ...resultOf(next, controls ? "" : room.answered(next), place.view.timeline)];
    if (controls) return [head, text, choicesOf(next)]; // what the class chooses from is projected
    if (!next.open) return [head, text, h("p.muted", { text: t("No more answers are taken.") })];
    form = createForm(next, room.answered(next), {
      place,
      say: (said) => setText(status, said),
      send: () => void send(),
    });
    return [head, text, ...form.nodes];
  }

  function sayPlace() {
    const found = selectedPlace(place.view.selection.current());
    const said = body.querySelector(".class-place");
    if (said) setText(said, found ? found.text : t("Click an op or a gap on the timeline."));
  }

  function writeButtons(next: Question) {
    if (controls) {
      // While answers come they stay: a press would be lost with the button it began on.
      if (isNew(buttons, [next.number, next.round, next.open, next.revealed !== null]))
        replace(buttons, ...controls(next));
      return;
    }
    if (!next.open) return replace(buttons);
    const label = room.answered(next) ? t("Change my answer") : t("Send my answer");
    const board = next.kind === "build" && place.page !== "/build";
    if (!isNew(buttons, [next.number, next.round, label, board])) return;
    replace(
      buttons,
      board
        ? h("button.button.primary", { onclick: () => toBoard(next.task) }, t("Open the board"))
        : h("button#class-send.button.primary", { onclick: () => void send() }, label),
    );
  }

  async function send() {
    if (!question?.open) return;
    const given = form?.read() ?? "";
    if (!given) return setText(status, form?.empty ?? "");
    setText(status, t("Sending …"));
    try {
      await room.answer(question, given);
      setText(status, t("Your answer is in. You can change it until the question is closed."));
    } catch (problem) {
      setText(status, whyFailed(problem));
    }
  }

  return {
    /** Send what stands in the form: a board that solves the task need not be sent by hand. */
    handIn: () => void send(),
    /** Whether a change of the page is part of answering: what is selected on the timeline. */
    takes(state: State, before: State) {
      if (question?.kind !== "find" || !question.open || state.spec !== before.spec) return false;
      const rest = ({ view }: State) => JSON.stringify({ ...view, sel: null, area: null });
      return rest(state) === rest(before);
    },
  };
}

/** How the class has answered. own: the reader's answer, "" for none. */
function resultOf(next: Question, own: string, timeline: Timeline): Child[] {
  const { revealed } = next;
  if (!revealed) return [];
  const chart = h("div.class-tally");
  const counts = next.kind === "find" ? byPlace(timeline, revealed.tally) : revealed.tally;
  drawTally(chart, next, counts, { right: revealed.right, total: revealed.answered });
  const by = { leader: "", simulation: t("By simulation."), run: t("Measured in the run.") }[revealed.source];
  const note = [by, revealed.note].filter(Boolean).join(t(" "));
  return [
    chart,
    own && next.kind !== "build"
      ? h("p.muted", { text: t("Your answer: {answer}", { answer: shown(next, own) }) })
      : null,
    note ? h("p.muted", { text: note }) : null,
  ];
}

function choicesOf({ options, ops }: Question) {
  const texts = options.length ? options : ops;
  return texts.length ? h("ol.class-choices", ...texts.map((choice) => h("li", { text: choice }))) : null;
}

async function nameTask(slug: string, node: HTMLElement) {
  try {
    const { title, text } = await getTask(slug);
    if (!node.textContent) node.textContent = `${textOf(title)}: ${textOf(text)}`;
  } catch {
    node.textContent ||= slug;
  }
}

/** An answer for people. */
function shown({ kind, options, unit }: Question, answer: string) {
  if (kind === "choose") return options[Number(answer)] ?? answer;
  return kind === "predict" ? `${answer} ${unit}`.trim() : answer;
}
