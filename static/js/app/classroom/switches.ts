// What students may do: join, go where they like, act at all, and which steps of a lesson they may open.
import { whyFailed } from "../../data/api.ts";
import { setNote } from "../../ui/notes.ts";
import { byId } from "../../ui/dom.ts";
import { t } from "../../core/i18n/language.ts";
import type { Classroom, ClassState } from "../../data/classroom/classroom.ts";

const field = (id: string) => byId(id) as HTMLInputElement;

export function createSwitches(room: Classroom) {
  const problem = byId("desk-problem");
  const [locked, paused, hold] = ["set-locked", "set-paused", "set-hold"].map(field);
  const [on, from, to] = ["pace-on", "pace-from", "pace-to"].map(field);

  async function set(change: Partial<ClassState>) {
    setNote(problem, "");
    try {
      await room.set(change);
    } catch (why) {
      setNote(problem, whyFailed(why));
    }
  }

  function write() {
    const { state } = room;
    for (const each of [locked, paused, hold, on, from, to]) each.disabled = !state || room.over;
    if (!state) return;
    [locked.checked, paused.checked, hold.checked] = [state.locked, state.paused, state.follow];
    on.checked = state.pace !== null;
    const busy = document.activeElement === from || document.activeElement === to;
    if (state.pace && !busy) [from.value, to.value] = state.pace.map(String);
  }

  function setPace() {
    if (!on.checked) return void set({ pace: null });
    const [first, last] = [Number(from.value), Number(to.value)];
    if (first >= 1 && first <= last) return void set({ pace: [first, last] });
    setNote(problem, t("The first step is 1 or later, and not after the last."));
  }

  locked.addEventListener("change", () => void set({ locked: locked.checked }));
  paused.addEventListener("change", () => void set({ paused: paused.checked }));
  hold.addEventListener("change", () => void set({ follow: hold.checked }));
  on.addEventListener("change", setPace);
  for (const each of [from, to])
    each.addEventListener("change", () => {
      if (on.checked) setPace();
    });
  byId("set-pace").addEventListener("submit", (event) => event.preventDefault());
  room.onChange((what) => {
    if (what !== "room" && what !== "scene") write();
  });
  write();
}
