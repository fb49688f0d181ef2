// The leader's desk: a window beside the one that is projected, with what the class does and what it may do.
import { createSwitches } from "./switches.ts";
import { createStudents } from "./students.ts";
import { BEGIN, inLanguage } from "./home.ts";
import { QuestionPanel } from "../../panels/classroom/question.ts";
import { send, whyFailed } from "../../data/api.ts";
import { keepClass } from "../../data/classroom/class_of_tab.ts";
import { Classroom } from "../../data/classroom/classroom.ts";
import { locale } from "../../ui/languages.ts";
import { setNote } from "../../ui/notes.ts";
import { byId, h, replace, setText, show } from "../../ui/dom.ts";
import { t } from "../../core/i18n/language.ts";

const MINUTE_S = 60;
const NAME = "bubbleline-desk"; // of this window, by which the page that leads finds it

export function createDesk(code: string) {
  const room = new Classroom(code, "leader");
  window.name = NAME;
  createJoinScreen(room);
  createSwitches(room);
  createStage(room);
  createPrivateLink();
  createDelete(code);
  new QuestionPanel(byId("question"), room);
  createStudents(room);
  const write = () => {
    writeLine(room);
    writeFacts(room);
  };
  room.onChange(write);
  setInterval(() => writeFacts(room), 1000 * MINUTE_S);
  void room.enter().catch((why) => setNote(byId("desk-line"), whyFailed(why)));
}

/** What is wrong with the connection, if anything. */
function writeLine(room: Classroom) {
  const line = byId("desk-line");
  if (room.over) {
    show(line, true);
    const way = h("a", { href: inLanguage("/class") }, t("Open another one"));
    replace(line, t("This class is over: it has been deleted, or its time has passed."), " ", way);
    return;
  }
  const away = room.inside ? "" : t("No connection to the server: what you see may be old. Connecting again …");
  setNote(line, room.refusal ? whyFailed(room.refusal) : away);
}

function writeFacts({ state, students }: Classroom) {
  if (!state) return;
  setText(byId("desk-here"), t("{here} here of {all} who joined", { here: state.here, all: students.size }));
  const end = new Date(1000 * state.expires);
  const minutes = Math.max(0, Math.floor((end.getTime() - Date.now()) / 1000 / MINUTE_S));
  const left = { hours: Math.floor(minutes / 60), minutes: minutes % 60 };
  setText(byId("desk-time"), t("{hours} h {minutes} min left", left));
  const when = end.toLocaleString(locale(), { weekday: "long", hour: "2-digit", minute: "2-digit" });
  setText(byId("desk-expires"), t("This one is deleted by itself on {when}.", { when }));
}

/** The page that leads: a tab that this one opens has its session storage, and so knows its part. */
function createStage(room: Classroom) {
  const { code } = room;
  let stage: Window | null = null;
  byId("open-stage").addEventListener("click", () => {
    if (stage && !stage.closed) return stage.focus();
    keepClass(code, "leader");
    const { scene } = room;
    const address = scene ? `${scene.page}${scene.query}${scene.place && `#${scene.place}`}` : inLanguage(BEGIN);
    stage = window.open(address, "_blank");
  });
}

function createPrivateLink() {
  const button = byId("copy-link");
  const { link = "" } = byId("main").dataset;
  const { textContent: label } = button;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(link);
      setText(button, t("Copied."));
    } catch {
      const box = h("input", { type: "text", readonly: true, value: link, "aria-label": label });
      button.replaceWith(box); // a page that is not served securely may not write to the clipboard
      box.select();
    }
  });
  button.addEventListener("blur", () => setText(button, label ?? ""));
}

function createDelete(code: string) {
  const dialog = byId("delete-dialog") as HTMLDialogElement;
  const problem = byId("delete-problem");
  byId("delete-class").addEventListener("click", () => {
    setNote(problem, "");
    dialog.showModal();
  });
  dialog.querySelector("[data-close]")?.addEventListener("click", () => dialog.close());
  byId("delete-now").addEventListener("click", async () => {
    try {
      await send("DELETE", `/api/classes/${code}`);
      location.replace(inLanguage("/class?deleted=1"));
    } catch (why) {
      setNote(problem, whyFailed(why));
    }
  });
}

/** How to join, alone on the whole screen: for the projector, while the class comes in. */
function createJoinScreen(room: Classroom) {
  const dialog = byId("join-screen") as HTMLDialogElement;
  byId("show-join").addEventListener("click", () => {
    dialog.showModal();
    dialog.requestFullscreen?.().catch(() => {}); // refused, it fills the window
  });
  byId("join-screen-close").addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => {
    if (document.fullscreenElement) void document.exitFullscreen();
  });
  document.addEventListener("fullscreenchange", () => {
    if (!document.fullscreenElement && dialog.open) dialog.close(); // Esc leaves both
  });
  room.onChange(() => {
    const here = room.state?.here ?? 0;
    setText(byId("join-screen-here"), t("{n} here", { n: here }));
  });
}
