// The students on the leader's desk: the grid, its order, names that a key shows, snapshots, and removing one.
import { Grid, legend } from "../../panels/classroom/grid.ts";
import { Snapshots } from "../../panels/classroom/snapshots.ts";
import { Thumbnails } from "../../panels/classroom/thumbnails.ts";
import { Views } from "../../panels/classroom/views.ts";
import { getJson, send, whyFailed } from "../../data/api.ts";
import { nameOf, type Classroom, type Student } from "../../data/classroom/classroom.ts";
import { listenKeys, binding } from "../../ui/keyboard.ts";
import { setNote } from "../../ui/notes.ts";
import { byId, h, replace, setText, show } from "../../ui/dom.ts";
import { t } from "../../core/i18n/language.ts";
import { countOf, type Order } from "../../panels/classroom/items.ts";

export async function createStudents(room: Classroom) {
  const node = byId("students");
  let views;
  try {
    views = new Views(await getJson("/api/families"));
  } catch (why) {
    return replace(node, h("p.class-problem", { text: whyFailed(why) }));
  }
  let names = false;
  const scroll = h("div.grid-scroll", { tabindex: 0, role: "group", "aria-labelledby": "desk-seen" });
  const thumbnails = new Thumbnails(views, scroll);
  const removal = createRemoval(room, () => names);
  const grid = new Grid(scroll, thumbnails, {
    pick: (number, picked) => snapshots.pick(number, picked),
    remove: (student) => removal(student),
  });
  const snapshots = new Snapshots({
    code: room.code,
    views,
    student: (number) => room.students.get(number),
    names: () => names,
    send: (query) => room.send("class_scene", { scene: { page: "/", query, place: "" } }),
    cleared: () => grid.clear(),
  });
  const order = h(
    "select",
    h("option", { value: "number" }, t("by number")),
    h("option", { value: "help" }, t("who needs help first")),
    h("option", { value: "done" }, t("most done first")),
  );
  const hereOnly = h("input", { type: "checkbox" });
  const toggle = h("button.button.soft", { onclick: () => showNames(!names), "aria-pressed": "false" });
  const warning = h("p.class-notice.warn", {
    role: "status",
    hidden: true,
    text: t("Names are shown: do not project this window. H hides them."),
  });
  const facts = h("p.muted");
  const empty = h("p.class-notice", {
    text: t("Nobody has joined yet. Show the code full screen: students scan it or type it."),
  });

  function write() {
    const { students, state } = room;
    const shown = {
      order: order.value as Order,
      names,
      hereOnly: hereOnly.checked,
      asked: state?.question?.number ?? null,
    };
    grid.update(students, shown);
    show(empty, students.size === 0 && room.inside);
    for (const each of [scroll, tools, signs]) show(each, students.size > 0);
    setText(facts, factsOf([...students.values()]));
  }

  function showNames(shown: boolean) {
    names = shown;
    toggle.setAttribute("aria-pressed", String(names));
    setText(toggle, names ? t("Hide names (H)") : t("Show names (H)"));
    show(warning, names);
    snapshots.write();
    write();
  }

  const tools = h(
    "div.grid-tools",
    facts,
    h("label", t("Sort"), " ", order),
    h("label.class-switch", hereOnly, " ", t("Only who is here")),
    toggle,
  );
  const signs = legend();
  replace(node, warning, empty, tools, scroll, signs, snapshots.bar, snapshots.shown);
  order.addEventListener("change", write);
  hereOnly.addEventListener("change", write);
  listenKeys([binding("", ["h", "H"], "H", t("Show names"), () => showNames(!names))]);
  room.onChange((what) => {
    if (what !== "scene") write();
  });
  showNames(false);
}

function factsOf(students: Student[]) {
  const stuck = students.filter((each) => countOf(each, "stuck") > 0).length;
  const here = students.filter((each) => each.here).length;
  const text = t("{here} here of {all} who joined", { here, all: students.length });
  return stuck ? `${text} · ${t("{n} stuck", { n: stuck })}` : text;
}

/** Asks before a student is removed. */
function createRemoval(room: Classroom, names: () => boolean) {
  const title = h("h2#remove-title");
  const problem = h("p.class-problem", { role: "alert", hidden: true });
  let number = 0;
  const dialog = h(
    "dialog.class-dialog",
    { "aria-labelledby": "remove-title" },
    title,
    h("p", {
      text: t(
        "The name and the answers of this student are deleted. With the code, one can join again until you lock it.",
      ),
    }),
    problem,
    h(
      "p.class-acts",
      h("button.button.primary.bad-act", { onclick: () => void remove() }, t("Remove")),
      h("button.button.soft", { onclick: () => dialog.close() }, t("Cancel")),
    ),
  );
  document.body.append(dialog);

  async function remove() {
    try {
      await send("DELETE", `/api/classes/${room.code}/members/${number}`);
      dialog.close();
    } catch (why) {
      setNote(problem, whyFailed(why));
    }
  }

  return (student: Student) => {
    ({ number } = student);
    setText(title, t("Remove {name}?", { name: nameOf(student, names()) }));
    setNote(problem, "");
    dialog.showModal();
  };
}
