// The strip at the foot of a page that is in a class: whose it is, and what its leader or a student can do there. It
// stays while presenting.
import { startFollowing } from "./follow_page.ts";
import { startLeading } from "./lead_page.ts";
import { forgetClass, type Part } from "../../data/classroom/class_of_tab.ts";
import { Classroom } from "../../data/classroom/classroom.ts";
import { h, sentence, setText, show } from "../../ui/dom.ts";
import { t, tr } from "../../core/i18n/language.ts";
import type { Place } from "./places.ts";

export type Strip = {
  room: Classroom;
  place: Place;
  /** Whose it is, with what is said of it; and where a leader's or a student's own controls go. */
  who: HTMLElement;
  tools: HTMLElement;
  tell: (text: string) => void;
};

export function createStrip(place: Place, { code, part }: { code: string; part: Part }) {
  const room = new Classroom(code, part);
  const title = h("strong.class-title.cut");
  const said = h("span.class-said", { role: "status" });
  const tools = h("div.class-tools");
  const hint = part === "leader" ? t("Stop leading; the class goes on") : t("Leave the class, or change the name");
  const leave = h("button.button.soft", { onclick: () => leaveClass(), title: hint }, t("Leave"));
  const who = h("span.class-who", h("span.badge.class-code", { text: code }), title, said);
  const node = h("section.class-strip", { "aria-label": t("Class") }, who, tools, leave);
  document.body.append(node);
  document.documentElement.classList.add("in-class");
  let told = "";
  const strip: Strip = {
    ...{ room, place, who, tools },
    tell: (text) => {
      told = text;
      write();
    },
  };

  room.onChange(() => write());
  if (part === "leader") startLeading(strip);
  else startFollowing(strip);
  write();
  void room.enter();
  exposeClass(room);

  function write() {
    setText(title, room.state?.title ?? "");
    show(title, Boolean(room.state?.title));
    node.classList.toggle("is-away", !room.inside);
    if (room.over) setText(said, t("This class has ended."));
    else if (room.refusal) setText(said, sentence(tr(room.refusal)));
    else setText(said, room.inside ? told : t("Connecting …"));
    show(tools, room.inside);
  }

  function leaveClass() {
    forgetClass();
    if (part === "leader") location.reload();
    else location.assign(`/class/${code}?me=1`);
  }
}

/** What tests read of the class. */
function exposeClass(room: Classroom) {
  Object.defineProperty(window, "bubblelineClass", { value: room });
}
