// A student's page: it shows what the leader's page shows, until the student looks around, and comes back on a click.
import { createSheet } from "./sheet.ts";
import { goTo, onShown, watchTouches } from "./places.ts";
import { onWork } from "../../data/classroom/work.ts";
import { h, show } from "../../ui/dom.ts";
import { t } from "../../core/i18n/language.ts";
import type { Strip } from "./strip.ts";

const OWN_MS = 1500; // after a key, a press or a wheel: what changes by then, the student has changed
const KEPT = "bubbleline.class.roams"; // in this tab: a page that is loaded again stays as it was

export function startFollowing(strip: Strip) {
  const { room, place, tools } = strip;
  let roams = sessionStorage.getItem(KEPT) === "1";
  const touches = watchTouches();
  let taking = 0; // views of the leader's that are being shown: what changes is no roaming
  let shown = 0; // the scene that was shown last
  let going = false; // to another page
  const back = h("button.button.primary", { onclick: () => setRoams(false) }, t("Follow again"));
  const roam = h("button.button.soft", { onclick: () => setRoams(true) }, t("Look around"));
  tools.append(back, roam);
  const sheet = createSheet(strip, { toBoard });
  const pause = createPause();

  place.view.store.subscribe((state, before) => {
    const isOwn = !taking && !room.over && performance.now() - touches.last() < OWN_MS;
    if (!isOwn || roams) return;
    if (sheet.takes(state, before))
      touches.forget(); // else what the leader shows next would count as the student's
    else if (isHeld()) catchUp(true);
    else setRoams(true);
  });
  room.onChange((what) => {
    if (what === "scene" || what === "state") catchUp(false);
    if (what === "state" || what === "over") write();
  });
  const report = () => room.showed(place.page, place.now().query);
  onShown(report);
  room.onChange((what) => {
    if (what === "line" && room.inside) report();
  });
  onWork((item, state) => {
    room.report(item, state);
    const { kind, task } = room.state?.question ?? {};
    if (state === "done" && kind === "build" && item === `build/${task}`) sheet.handIn();
  });
  write();

  /** Whether all are held on the leader's view; a question that is built needs the board. */
  function isHeld() {
    return Boolean(room.state?.follow) && room.state?.question?.kind !== "build";
  }

  function setRoams(next: boolean) {
    if (next && isHeld()) return;
    keepRoams(next);
    write();
    if (!roams) catchUp(true);
  }

  function keepRoams(next: boolean) {
    roams = next;
    sessionStorage.setItem(KEPT, roams ? "1" : "0");
  }

  /** again: also a scene that was shown already. */
  function catchUp(again: boolean) {
    if (isHeld() && roams) keepRoams(false);
    const { scene } = room;
    if (roams || going || !scene || (!again && scene.seq === shown)) return;
    shown = scene.seq;
    taking += 1;
    void goTo(place, scene)
      .then((left) => {
        going ||= left;
      })
      .finally(() => (taking -= 1));
  }

  function toBoard(task: string) {
    keepRoams(true);
    if (place.page !== "/build") location.assign(`/build?task=${encodeURIComponent(task)}`);
    else place.show(`?task=${encodeURIComponent(task)}`, "");
    write();
  }

  function write() {
    show(back, roams);
    show(roam, !roams && !isHeld());
    const { name, number } = room;
    const who = name ?? t("Student {number}", { number: number ?? 0 });
    strip.tell(
      roams
        ? t("{who} · on your own", { who })
        : isHeld()
          ? t("{who} · the lecturer holds the view", { who })
          : t("{who} · following", { who }),
    );
    pause.set(Boolean(room.state?.paused) && !room.over);
    pace();
  }

  /** The steps of a lesson outside of the pace are not there yet. */
  function pace() {
    const [first, last] = (!room.over && room.state?.pace) || [1, Infinity];
    document.querySelectorAll<HTMLElement>("#lesson > .step").forEach((step, at) => {
      step.toggleAttribute("data-off-pace", at + 1 < first || at + 1 > last);
    });
  }
}

/** What covers the page while the leader has paused everybody. */
function createPause() {
  const dialog = h(
    "dialog.class-pause",
    { "aria-label": t("Paused") },
    h("p", { text: t("Paused") }),
    h("p.muted", { text: t("Eyes to the front. This page goes on when the lecturer does.") }),
  );
  dialog.addEventListener("cancel", (event) => event.preventDefault());
  dialog.addEventListener("keydown", (event) => {
    if (event.key === "Escape") event.preventDefault();
  });
  return {
    set(paused: boolean) {
      if (paused && !dialog.open) {
        document.body.append(dialog);
        dialog.showModal();
      } else if (!paused && dialog.open) {
        dialog.close();
        dialog.remove();
      }
    },
  };
}
