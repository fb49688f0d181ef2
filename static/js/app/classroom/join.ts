// Join a class at its own address. Who has joined goes on at once, unless the address asks for the own entry (?me),
// where one changes the name or leaves.
import { BEGIN, inLanguage } from "./home.ts";
import { postJson, send, whyFailed } from "../../data/api.ts";
import { forgetClass, keepClass } from "../../data/classroom/class_of_tab.ts";
import { Classroom, nameOf } from "../../data/classroom/classroom.ts";
import { setNote } from "../../ui/notes.ts";
import { byId, setText, show } from "../../ui/dom.ts";
import { t } from "../../core/i18n/language.ts";

const STAYS = "me";

export function createJoin(code: string) {
  const joined = byId("main").dataset.joined === "true";
  const go = () => {
    keepClass(code, "member");
    location.replace(inLanguage(BEGIN));
  };
  if (joined && !new URLSearchParams(location.search).has(STAYS)) return go();
  const form = document.getElementById("member-form") as HTMLFormElement | null;
  if (!form) return; // the class is locked
  const [name, problem] = [byId("member-name") as HTMLInputElement, byId("member-problem")];
  let joining = false; // on a slow network people press twice, and would be two students
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (joining) return;
    joining = true;
    setNote(problem, "");
    try {
      await postJson(`/api/classes/${code}/members`, { name: name.value.trim() || null });
      go();
    } catch (why) {
      joining = false;
      setNote(problem, whyFailed(why));
      name.focus();
    }
  });
  if (joined) showMember(code, form, name, problem);
  else name.focus();
}

/** The own entry: the number, the name to change, and the way out. */
function showMember(code: string, form: HTMLFormElement, name: HTMLInputElement, problem: HTMLElement) {
  const room = new Classroom(code, "member");
  room.onChange((what) => {
    if (what === "line" && room.refusal) setNote(problem, whyFailed(room.refusal));
    if (what !== "line" || room.number === null || !room.inside) return;
    setText(
      byId("member-said"),
      t("You are in this class: {name}.", { name: nameOf({ number: room.number, name: room.name }, true) }),
    );
    if (document.activeElement !== name) name.value = room.name ?? "";
  });
  void room.enter();
  for (const each of form.querySelectorAll<HTMLElement>("[data-join], [data-change]"))
    show(each, each.dataset.change !== undefined);
  const leave = byId("member-leave");
  show(leave, true);
  show(form, true);
  leave.addEventListener("click", async () => {
    try {
      await send("DELETE", `/api/classes/${code}/members/me`);
      forgetClass();
      show(form, false);
      setNote(byId("join-said"), t("You have left the class. Your name and your answers are deleted."));
    } catch (why) {
      setNote(problem, whyFailed(why));
    }
  });
}
