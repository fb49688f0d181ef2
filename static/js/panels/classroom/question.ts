// The present question on the leader's desk: how many have answered, how they answered once the leader wants to see it,
// and what comes next.
import { answerText, drawTally } from "./tally.ts";
import { whyFailed } from "../../data/api.ts";
import { setNote } from "../../ui/notes.ts";
import { h, isNew, replace, setText, show } from "../../ui/dom.ts";
import { t } from "../../core/i18n/language.ts";
import type { Classroom, Kind, Question } from "../../data/classroom/classroom.ts";

const KINDS = (): Record<Kind, string> => ({
  predict: t("predict a number"),
  choose: t("choose"),
  order: t("put in order"),
  find: t("find on the timeline"),
  build: t("build"),
});

export class QuestionPanel {
  #room: Classroom;
  #shownFor = ""; // the round of which the leader has asked to see the answers
  #head = h("div.asked");
  #count = h("p.asked-count");
  #meter = h("progress", { max: 1, value: 0 });
  #tally = h("div.asked-tally", { hidden: true });
  #right = h("input", { type: "text", autocomplete: "off" });
  #options = h("select");
  #note = h("input", { type: "text", maxlength: 400, autocomplete: "off" });
  #form = h("form.asked-reveal");
  #problem = h("p.class-problem", { role: "alert", hidden: true });
  #peek = h("button.button.soft", { onclick: () => this.#toggle() });
  #close = h("button.button.soft", { onclick: () => this.#act("class_close") }, t("Close"));
  #again = h("button.button.soft", { onclick: () => this.#act("class_again") }, t("Ask again"));
  #end = h("button.button.soft", { onclick: () => this.#act("class_end_question") }, t("Take off the screens"));
  #none = h("p.muted", {
    text: t("No question is on the screens. Ask one from the page that you lead; how the class answers appears here."),
  });
  #whole: HTMLElement;

  constructor(node: HTMLElement, room: Classroom) {
    this.#room = room;
    this.#form.append(
      h("label.class-field", t("Right answer"), this.#right, this.#options),
      h("label.class-field", t("A word on it, if you like"), this.#note),
      h("button.button.primary", { type: "submit" }, t("Reveal to all")),
    );
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      const right = this.#options.hidden ? this.#right.value.trim() : this.#options.value;
      void this.#act("class_reveal", { right: right || null, source: "leader", note: this.#note.value.trim() });
    });
    this.#whole = h(
      "div.asked-whole",
      this.#head,
      h("div.asked-live", this.#count, this.#meter),
      h("p.class-acts", this.#peek, this.#close, this.#again, this.#end),
      this.#tally,
      this.#form,
      this.#problem,
    );
    this.#meter.setAttribute("aria-label", t("Students who have answered"));
    replace(node, this.#none, this.#whole);
    room.onChange(() => this.write());
    this.write();
  }

  write() {
    const question = this.#room.state?.question ?? null;
    show(this.#none, question === null);
    show(this.#whole, question !== null);
    if (!question) return;
    const { number, round, open, revealed } = question;
    if (isNew(this.#whole, [number, round])) this.#begin(question);
    if (isNew(this.#head, question)) this.#writeHead(question);
    const tally = this.#tallyOf(question);
    const total = this.#total(tally.answered);
    setText(this.#count, t("{answered} of {total} have answered", { answered: tally.answered, total }));
    this.#meter.max = Math.max(1, total);
    this.#meter.value = tally.answered;
    const shown = revealed !== null || this.#shownFor === `${number}.${round}`;
    show(this.#tally, shown);
    if (shown) {
      const right = revealed ? revealed.right : (question.right ?? null);
      drawTally(this.#tally, question, tally.counts, { right, total });
    }
    setText(this.#peek, shown ? t("Hide answers") : t("Show answers to me"));
    show(this.#peek, revealed === null);
    show(this.#close, open);
    show(this.#form, revealed === null);
  }

  #begin({ kind, options, right }: Question) {
    setNote(this.#problem, "");
    this.#note.value = "";
    this.#right.value = right ?? "";
    replace(
      this.#options,
      h("option", { value: "" }, t("not said")),
      ...options.map((text, at) => h("option", { value: at, selected: String(at) === right }, text)),
    );
    show(this.#options, kind === "choose");
    show(this.#right, kind !== "choose");
    show(this.#right.parentElement as HTMLElement, kind !== "build");
  }

  #writeHead(question: Question) {
    const { number, round, kind, text, task, open, revealed, right } = question;
    replace(
      this.#head,
      h(
        "p.row",
        h("b", { text: t("Question {n}", { n: number }) }),
        h("span.badge", { text: KINDS()[kind] }),
        round > 1 && h("span.badge", { text: t("round {n}", { n: round }) }),
        revealed
          ? h("span.badge.good", { text: t("revealed") })
          : h(open ? "span.badge.live" : "span.badge.warn", { text: open ? t("open") : t("closed") }),
      ),
      h("p.asked-text", { text: text || task.replaceAll("-", " ") }),
      right !== null &&
        right !== undefined &&
        h("p.muted", { text: t("Right: {answer}", { answer: answerText(question, right) }) }),
    );
  }

  #tallyOf({ number, round, revealed }: Question) {
    const { tally } = this.#room;
    if (tally && tally.question === number && tally.round === round) return tally;
    return { answered: revealed?.answered ?? 0, counts: revealed?.tally ?? [] };
  }

  /** Who could answer: those who are here, and those who have answered and left. */
  #total(answered: number) {
    return Math.max(answered, this.#room.state?.here ?? 0);
  }

  #toggle() {
    const question = this.#room.state?.question;
    if (!question) return;
    const round = `${question.number}.${question.round}`;
    this.#shownFor = this.#shownFor === round ? "" : round;
    this.write();
  }

  async #act(event: string, payload: Record<string, unknown> = {}) {
    setNote(this.#problem, "");
    try {
      await this.#room.send(event, payload);
    } catch (problem) {
      setNote(this.#problem, whyFailed(problem));
    }
  }
}
