// How to join, alone on the whole screen: for the projector, while the class comes in.
import { byId, setText } from "../../ui/dom.ts";
import { t } from "../../core/i18n/language.ts";
import type { Classroom } from "../../data/classroom.ts";

export function createJoinScreen(room: Classroom) {
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
