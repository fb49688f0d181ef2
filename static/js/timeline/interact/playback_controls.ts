// The row of buttons under the timeline. Reads and drives playback, holds no state of its own.
import { byId, h, iconButton, setText } from "../../ui/dom.ts";
import { SPEEDS, type Playback } from "./playback.ts";
import { t } from "../../core/i18n/language.ts";
import { formatTime } from "../../core/i18n/numbers.ts";
import { tickStep } from "../../core/timeline/scale.ts";

const PLAY = "M4 2.5v11l9-5.5z";
const PAUSE = "M4 2.5h3v11H4zM9 2.5h3v11H9z";
const BACK = "M3 3h2v10H3zM13 3v10L6 8z";
const NEXT = "M11 3h2v10h-2zM3 3v10l7-5z";
const SCRUB_STEPS = 1000;
const STICKS = 5; // px of the slider

/** tolerance: how far the edge of an op may be and still attract the playhead. */
export function createTransport(
  playback: Playback,
  total: () => number,
  onScrub: (time: number, tolerance: number) => void,
) {
  const button = (name: string, key: string, path: string, act: () => void) =>
    iconButton(path, name, act, `${name} (${key})`);
  const toggle = button(t("Play"), t("Space"), PLAY, () => playback.toggle());
  const playPath = toggle.querySelector("path") as SVGPathElement;
  const back = button(t("Back to where an op starts or ends"), "←", BACK, () => playback.step(-1));
  const next = button(t("On to where an op starts or ends"), "→", NEXT, () => playback.step(1));
  const speed = h("select", { "aria-label": t("Speed"), id: "speed" });
  for (const each of SPEEDS) speed.append(h("option", { value: each, text: `${each}×` }));
  speed.addEventListener("change", () => playback.setSpeed(Number(speed.value)));
  const scrub = h("input", {
    type: "range",
    class: "scrub",
    id: "scrub",
    min: 0,
    max: SCRUB_STEPS,
    value: SCRUB_STEPS,
    "aria-label": t("Playhead"),
  });
  listenScrub(scrub, playback, total, onScrub);
  const now = h("output", { class: "at", id: "at" });
  byId("transport").append(back, toggle, next, speed, scrub, now);

  let [shownPart, shownText] = [NaN, ""];

  /** Bring the row up to date; called once a frame at most. */
  function show() {
    const end = total();
    const at = playback.at === null ? null : Math.min(playback.at, end); // it stays where it was in a longer schedule
    const step = tickStep(end, 200);
    const playing = playback.playing;
    const path = playing ? PAUSE : PLAY;
    if (playPath.getAttribute("d") !== path) {
      playPath.setAttribute("d", path);
      toggle.setAttribute("aria-label", playing ? t("Pause") : t("Play"));
    }
    const part = at === null ? 1 : at / end;
    const text = at === null ? t("the end") : formatTime(at, step);
    const value = String(Math.round(part * SCRUB_STEPS));
    if (scrub.value !== value) scrub.value = value;
    if (part !== shownPart || text !== shownText) {
      [shownPart, shownText] = [part, text];
      scrub.style.setProperty("--fill", `${(part * 100).toFixed(1)}%`);
      scrub.setAttribute("aria-valuetext", text);
    }
    if (speed.value !== String(playback.speed)) speed.value = String(playback.speed);
    setText(now, t("t {at} / {end}", { at: formatTime(at ?? end, step), end: formatTime(end, step) }));
  }
  return { show };
}

/**
 * By hand it sticks to the edges of ops, as the axis does, unless Alt or Ctrl is held; the arrow keys step from edge to
 * edge.
 */
function listenScrub(
  scrub: HTMLInputElement,
  playback: Playback,
  total: () => number,
  onScrub: (time: number, tolerance: number) => void,
) {
  let free = false;
  for (const type of ["pointerdown", "pointermove"] as const) {
    scrub.addEventListener(type, (event) => {
      free = event.altKey || event.ctrlKey;
    });
  }
  scrub.addEventListener("input", () => {
    const tolerance = free ? 0 : (STICKS * total()) / Math.max(1, scrub.clientWidth);
    onScrub((Number(scrub.value) / SCRUB_STEPS) * total(), tolerance);
  });
  scrub.addEventListener("keydown", (event) => {
    const way = /^Arrow(Right|Up)$/.test(event.key) ? 1 : /^Arrow(Left|Down)$/.test(event.key) ? -1 : 0;
    if (!way || event.shiftKey || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    playback.step(way);
  });
}
