// A leader's page: what it shows, the pages of those who follow show too; and the questions that are asked about it.
// Students' names are never here: this page is projected. They are on the leader's own window, /class/CODE/lead.
import { createAsk } from "./ask.ts";
import { goTo, onShown, watchTouches } from "./places.ts";
import { createSheet } from "./sheet.ts";
import { isOver } from "../../data/runs/client.ts";
import { whyFailed } from "../../data/api.ts";
import { h, replace, setText, show } from "../../ui/dom.ts";
import { t } from "../../core/i18n/language.ts";
import { formatCount, formatPercent } from "../../core/i18n/numbers.ts";
import type { Strip } from "./strip.ts";

const SCENE_MS = 50; // between two scenes: 20 a second
const TAKEN_MS = 600; // until what another window's view changes here has settled
const LOOK_MS = 400; // between two looks at a run whose figure is awaited

export function startLeading(strip: Strip) {
  const { room, place, who, tools } = strip;
  leadWith(strip);
  const report = (done: Promise<unknown>) =>
    done.then(
      () => strip.tell(""),
      (problem) => strip.tell(whyFailed(problem)),
    );
  const act = (event: string, payload: Record<string, unknown> = {}) => report(room.send(event, payload));
  const ask = createAsk(strip);
  const here = h("span.class-here");
  const hold = toggle(t("Hold"), t("Hold all on this view: nobody looks around by themselves"), (on) =>
    report(room.set({ follow: on })),
  );
  const pause = toggle(t("Pause"), t("Cover the pages of all students"), (on) => report(room.set({ paused: on })));
  const desk = h("a.button.soft", { href: `/class/${room.code}/lead`, target: "bubbleline-desk" }, t("Students"));
  const answered = h("span.class-asked", { hidden: true });
  who.append(here, answered);
  tools.append(h("button.button.primary", { onclick: () => ask.open() }, t("Ask")), hold.node, pause.node, desk);
  createSheet(strip, {
    controls: (question) =>
      question.open
        ? [
            h("button.button.primary", { onclick: () => reveal() }, t("Reveal")),
            place.run && question.kind === "predict" && question.unit === "%"
              ? h("button.button.soft", { onclick: () => revealByRun() }, t("Run it and reveal"))
              : null,
            h("button.button.soft", { onclick: () => act("class_close") }, t("Close")),
          ]
        : [
            question.revealed ? null : h("button.button.primary", { onclick: () => reveal() }, t("Reveal")),
            h("button.button.soft", { onclick: () => act("class_again") }, t("Ask again")),
            h("button.button.soft", { onclick: () => act("class_end_question") }, t("Done")),
          ],
  });

  room.onChange(() => write());
  write();

  function write() {
    const { state, tally } = room;
    hold.set(Boolean(state?.follow));
    pause.set(Boolean(state?.paused));
    setText(here, t("{count} here", { count: formatCount(state?.here ?? 0) }));
    const question = state?.question ?? null;
    show(answered, question !== null);
    if (!question) return;
    const isSame = tally?.question === question.number && tally.round === question.round;
    replace(answered, t("{count} answered", { count: formatCount(isSame ? (tally?.answered ?? 0) : 0) }));
  }

  /** What is right was computed when the question was asked, from the plan. */
  function reveal() {
    const { kind, right } = room.state?.question ?? {};
    const isComputed = Boolean(right) && (kind === "predict" || kind === "order");
    return act("class_reveal", { source: isComputed ? "simulation" : "leader" });
  }

  /** Execute the schedule on the pool, which all who follow watch, and reveal what was measured. */
  async function revealByRun() {
    const before = place.running()?.id;
    const asked = room.state?.question;
    await act("class_close");
    await place.run?.();
    const timer = window.setInterval(() => {
      const run = place.running();
      const { number, round, revealed } = room.state?.question ?? {};
      const isWanted = number === asked?.number && round === asked?.round && !revealed;
      if (isWanted && (!run || run.id === before || !isOver(run))) return;
      clearInterval(timer);
      if (!isWanted || !run) return;
      const measured: unknown = run.measured?.bubble?.global?.of_total;
      const planned: unknown = run.predicted?.bubble?.global?.of_total;
      if (typeof measured !== "number") return void strip.tell(t("The run gave no figure; reveal it by simulation."));
      const note = typeof planned === "number" ? t("Planned: {share}", { share: formatPercent(planned) }) : "";
      void act("class_reveal", { source: "run", right: Number((100 * measured).toPrecision(4)), note });
    }, LOOK_MS);
  }
}

/** Send what this page shows, 20 times a second at most, the last one always. */
function leadWith({ room, place }: Strip) {
  let [sent, at, timer] = ["", -Infinity, 0];
  const touches = watchTouches();
  let taken = -Infinity; // when a view of another window of the leader's was shown here, which that one has sent

  function send() {
    timer = 0;
    const scene = { page: place.page, ...place.now() };
    const text = JSON.stringify(scene);
    if (text === sent || !room.inside) return;
    sent = text;
    if (performance.now() - taken < TAKEN_MS && touches.last() < taken) return;
    at = performance.now();
    room.lead(scene);
  }

  function soon() {
    if (!timer) timer = window.setTimeout(send, Math.max(0, SCENE_MS - (performance.now() - at)));
  }

  onShown(soon);
  room.onChange((what) => {
    if (what === "line") {
      sent = ""; // the server may have missed the last one
      soon();
    } else if (what === "scene" && room.scene) {
      taken = performance.now();
      void goTo(place, room.scene);
    }
  });
}

function toggle(label: string, title: string, change: (on: boolean) => void) {
  const node = h("button.button.soft", { "aria-pressed": "false", title }, label);
  const set = (on: boolean) => node.setAttribute("aria-pressed", String(on));
  node.addEventListener("click", () => {
    const on = node.getAttribute("aria-pressed") !== "true";
    set(on); // at once: a second press before the server has answered means the opposite
    change(on);
  });
  return { node, set };
}
