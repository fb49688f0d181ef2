// Presenting: the timeline alone in large type, full screen where the browser allows it, slide by slide with the keys
// that a clicker sends. The presenter's window, on the same machine, shows the notes of the slide and can turn it too.
import { createChannel } from "./channel.ts";
import { recolour } from "../../ui/appearance.ts";
import { h, iconButton, replace, setText, show } from "../../ui/dom.ts";
import { binding } from "../../ui/keyboard.ts";
import { language, t } from "../../core/i18n/language.ts";

/** number: in the deck as the presenter's window has it; null for a view that is in no deck. */
export type Slide = { number: number | null; title: string; caption: Node[]; show: () => void };
/** name: of a lesson, or of the gallery. */
export type Deck = { name: string; slides: Slide[]; first: number };

type Parts = {
  deck: () => Promise<Deck>;
  onLeave: (slide: Slide | null) => void;
};

const CLASS = "is-presenting";
const SLIDE = "bubbleline.present.slide"; // the number of the slide in this tab, for a reload
const LEFT = "M10.5 2L4.5 8l6 6 1.4-1.4L7.3 8l4.6-4.6z";
const RIGHT = "M5.5 2l6 6-6 6-1.4-1.4L8.7 8 4.1 3.4z";
const NOTES = "M2 2h12v9H8.8l-3.3 3v-3H2zM4 4.5V6h8V4.5zm0 3V9h5V7.5z";
const WHOLE = "M2 2h5v2H4v3H2zm7 0h5v5h-2V4H9zM2 9h2v3h3v2H2zm10 0h2v5H9v-2h3z";
const CLOSE = "M3.4 2L8 6.6 12.6 2 14 3.4 9.4 8l4.6 4.6-1.4 1.4L8 9.4 3.4 14 2 12.6 6.6 8 2 3.4z";

/**
 * Whether to present at once: a link asks for it, which is no part of a view and goes out of the address, or the page
 * did so before it was loaded again.
 */
export function startsPresenting() {
  const { pathname, search, hash } = location;
  const rest = search.replace(/([?&])present=1(&|$)/, (_, before, after) => (after ? before : ""));
  if (rest !== search) history.replaceState(history.state, "", pathname + rest + hash);
  const [visit] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
  if (visit?.type !== "reload") sessionStorage.removeItem(SLIDE);
  return rest !== search || sessionStorage.getItem(SLIDE) !== null;
}

/** Whether the page is presenting. */
export const isPresenting = () => document.documentElement.classList.contains(CLASS);

export function createPresenting({ deck: load, onLeave }: Parts) {
  let deck: Deck | null = null;
  let at = 0;
  let opening = false; // the presenter's window, for which a browser leaves the full screen by itself
  const strip = createStrip({ go, leave, notes: openNotes });
  const channel = createChannel({
    hello: () => tell(),
    go: (number) => {
      const found = deck?.slides.findIndex((slide) => slide.number === number) ?? -1;
      if (found >= 0) turn(found);
    },
  });

  function tell() {
    if (deck && isPresenting()) channel.post({ deck: deck.name, at: deck.slides[at].number });
  }

  function turn(to: number) {
    const slide = deck?.slides[to];
    if (!deck || !slide) return;
    at = to;
    sessionStorage.setItem(SLIDE, String(slide.number));
    slide.show();
    strip.write(slide, at, deck.slides.length);
    tell();
  }

  function go(way: number) {
    turn(at + way);
  }

  async function enter() {
    if (isPresenting()) return;
    fullScreen();
    document.documentElement.classList.add(CLASS);
    document.body.append(strip.node);
    recolour();
    window.addEventListener("keydown", onKey, { capture: true });
    deck = await load();
    const before = deck.slides.findIndex(({ number }) => String(number) === sessionStorage.getItem(SLIDE));
    if (isPresenting()) turn(before < 0 ? deck.first : before);
  }

  function leave() {
    if (!isPresenting()) return;
    sessionStorage.removeItem(SLIDE);
    document.documentElement.classList.remove(CLASS);
    strip.node.remove();
    recolour();
    window.removeEventListener("keydown", onKey, { capture: true });
    leaveFullScreen();
    channel.post({ deck: "", at: null });
    onLeave(deck?.slides[at] ?? null);
  }

  function openNotes() {
    opening = document.fullscreenElement !== null;
    const query = new URLSearchParams({ deck: deck?.name ?? "", lang: language() });
    window.open(`/teach/presenter?${query}`, "bubbleline-presenter", "popup,width=960,height=720");
  }

  function onKey(event: KeyboardEvent) {
    const [next, back] = [() => go(1), () => go(-1)];
    const acts: Record<string, (() => void) | undefined> = {
      ...{ PageDown: next, ArrowRight: next, ArrowDown: next, " ": next },
      ...{ PageUp: back, ArrowLeft: back, ArrowUp: back },
      ...{ Home: () => turn(0), End: () => turn((deck?.slides.length ?? 1) - 1) },
      ...{ Escape: leave, p: leave, n: openNotes, f: fullScreen },
    };
    const act = acts[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog:modal")) return;
    if (needs(event)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    act();
  }

  onLeftFullScreen(() => {
    if (!opening) leave();
    opening = false;
  });

  return {
    enter,
    key: binding(t("Show"), ["p"], "P", t("present: full screen and large type, and back"), enter),
  };
}

/** Whether the control that has the focus takes a key itself. Clickers send Page Down, which always turns a slide. */
function needs({ key, target }: KeyboardEvent) {
  if (!(target instanceof Element) || key.startsWith("Page") || key === "Escape") return false;
  if (target.closest("input[type=text], select, textarea")) return true;
  if (target.closest("input")) return key.startsWith("Arrow") || key === " ";
  return key === " " && target.closest("button, a, summary") !== null;
}

type Strip = { go: (way: number) => void; leave: () => void; notes: () => void };

/** The line below: what the slide shows, which one it is, and what a mouse needs. */
function createStrip({ go, leave, notes }: Strip) {
  const title = h("h1");
  const caption = h("p");
  const count = h("span.present-count");
  const back = iconButton(LEFT, t("Previous scene"), () => go(-1), t("Previous scene (Page ↑)"));
  const next = iconButton(RIGHT, t("Next scene"), () => go(1), t("Next scene (Page ↓)"));
  const whole = iconButton(WHOLE, t("Full screen"), fullScreen, t("Full screen (F)"));
  const node = h(
    "section.present-strip",
    { "aria-label": t("Presenting") },
    h("div.present-words", { "aria-live": "polite" }, title, caption),
    h(
      "div.present-ways",
      back,
      count,
      next,
      iconButton(NOTES, t("Presenter's window"), notes, t("Presenter's window: notes, next scene, clock (N)")),
      whole,
      iconButton(CLOSE, t("Leave"), leave, t("Leave (Esc)")),
    ),
  );
  document.addEventListener("fullscreenchange", () => show(whole, !document.fullscreenElement));
  return {
    node,
    write(slide: Slide, at: number, of: number) {
      setText(title, slide.title);
      replace(caption, ...slide.caption.map((each) => each.cloneNode(true)));
      setText(count, `${at + 1} / ${of}`);
      back.disabled = at === 0;
      next.disabled = at === of - 1;
      show(whole, !document.fullscreenElement && document.fullscreenEnabled);
    },
  };
}

/** Ask for the full screen; a refusal leaves the page as it is. */
function fullScreen() {
  if (navigator.userActivation?.isActive === false) return; // by a link: only a key or a click may ask for it
  document.documentElement.requestFullscreen?.().catch(() => {});
}

function leaveFullScreen() {
  if (document.fullscreenElement) document.exitFullscreen().catch(() => {});
}

/** Call a task when the reader has left the full screen, as Esc does by itself. */
function onLeftFullScreen(task: () => void) {
  let was = false;
  document.addEventListener("fullscreenchange", () => {
    if (was && !document.fullscreenElement) task();
    was = document.fullscreenElement !== null;
  });
}
