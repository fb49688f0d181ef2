// The presenter's window: follows the page that is presented, in another window of this browser, and turns its slides.
import { createChannel } from "./channel.ts";
import { createLook } from "../learn/look.ts";
import { applyAppearance } from "../../ui/appearance.ts";
import { byId, setText, show } from "../../ui/dom.ts";
import { loadLanguage } from "../../ui/languages.ts";
import { language, t } from "../../core/i18n/language.ts";

const BEGUN = "bubbleline.present.begun";
const WAYS: Record<string, number> = {
  PageDown: 1,
  ArrowRight: 1,
  " ": 1,
  PageUp: -1,
  ArrowLeft: -1,
};

export async function startPresenter() {
  applyAppearance(createLook().get().view);
  await loadLanguage(`?lang=${document.documentElement.dataset.language}`);
  document.documentElement.classList.add("is-live");
  const bar = byId("presenter");
  const { deck: own = "" } = bar.dataset;
  const slides = [...document.querySelectorAll(".slide")] as HTMLElement[];
  const timer = createTimer();
  let at = 0;

  const channel = createChannel({
    shown({ deck, at: now }) {
      if (deck && deck !== own) return follow(deck);
      show(byId("presenter-state"), deck === "");
      if (deck) timer.start();
      if (now !== null) turn(now);
    },
  });

  function turn(to: number) {
    if (!slides[to]) return;
    at = to;
    slides.forEach((slide, k) => {
      slide.classList.toggle("is-now", k === at);
      slide.classList.toggle("is-next", k === at + 1);
      slide.dataset.label = t("Next");
    });
    setText(byId("presenter-count"), `${at + 1} / ${slides.length}`);
    scrollTo(0, 0);
  }

  function go(way: number) {
    if (!slides[at + way]) return;
    turn(at + way);
    channel.go(at);
  }

  for (const button of bar.querySelectorAll<HTMLButtonElement>("[data-way]"))
    button.addEventListener("click", () => go(Number(button.dataset.way)));
  document.addEventListener("keydown", (event) => {
    const way = WAYS[event.key];
    if (!way || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === " " && (event.target as Element).closest("button, a")) return;
    event.preventDefault();
    go(way);
  });
  turn(0);
  channel.hello();
}

/** Another lesson is presented now. */
const follow = (deck: string) => location.replace(`?${new URLSearchParams({ deck, lang: language() })}`);

/** Counts from the first slide on, also when this window turns to another lesson. */
function createTimer() {
  let begun = Number(sessionStorage.getItem(BEGUN));
  const out = byId("presenter-timer");

  function write() {
    const seconds = begun ? Math.floor((Date.now() - begun) / 1000) : 0;
    setText(out, `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`);
  }

  function begin() {
    begun = Date.now();
    sessionStorage.setItem(BEGUN, String(begun));
    write();
  }

  byId("presenter-again").addEventListener("click", begin);
  setInterval(write, 1000);
  write();
  return {
    start() {
      if (!begun) begin();
    },
  };
}
