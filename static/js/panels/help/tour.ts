// The tour: a card under the timeline that goes through views, one step at a time. The reader may drag everything
// meanwhile; the view from before comes back at the end.
import { t } from "../../core/i18n/language.ts";
import { formatNumber, formatPercent } from "../../core/i18n/numbers.ts";
import { byId, h, setText } from "../../ui/dom.ts";
import { onStage } from "../../ui/frame_loop.ts";
import { STEPS } from "./tour_steps.ts";
import type { Plans } from "../../data/plans.ts";
import type { Store } from "../../data/store.ts";
import type { State } from "../../core/state/link.ts";

/** play: the playhead sweeps over the timeline. */
type Parts = { store: Store; plans: Plans; play: () => void };

const MARKED = "tour-marked";

/** Returns starts the tour. */
export function createTour(parts: Parts): () => void {
  let card: ReturnType<typeof createCard> | null = null;
  return () => {
    card ??= createCard(parts);
    card.begin();
  };
}

function createCard({ store, plans, play }: Parts) {
  let at = -1; // no step: the tour is over
  let before: State | null = null;
  const count = h("span.fine.tour-count");
  const title = h("h2#tour-title", { tabindex: -1 });
  const text = h("p", { "aria-live": "polite" });
  const back = button("tour-back", t("Back"), () => go(at - 1), "soft");
  const next = button("tour-next", t("Next"), () => (at + 1 < STEPS.length ? go(at + 1) : end()), "primary");
  const close = button("tour-close", "×", end, "icon");
  close.setAttribute("aria-label", t("End the tour"));
  const node = h(
    "section#tour.tour",
    { "aria-labelledby": "tour-title", hidden: true },
    h("div.tour-head", count, title, close),
    text,
    h("div.tour-steps", back, next),
  );
  byId("plot").after(node);
  node.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    end();
  });
  onStage("figures", write);

  function begin() {
    before ??= store.get();
    node.hidden = false;
    go(0, "push");
  }

  function go(step: number, how: "push" | "replace" = "replace") {
    at = step;
    const { query, play: moves } = STEPS[at];
    store.visit(query, how);
    mark(STEPS[at].at);
    setText(text, ""); // until the figures are there
    back.disabled = at === 0;
    setText(next, at + 1 < STEPS.length ? t("Next") : t("Done"));
    setText(count, t("{at} of {all}", { at: at + 1, all: STEPS.length }));
    write();
    title.focus({ preventScroll: true });
    if (moves && !matchMedia("(prefers-reduced-motion: reduce)").matches) play();
  }

  function end() {
    if (at < 0) return;
    at = -1;
    node.hidden = true;
    mark();
    if (before) store.set(before, "push");
    before = null;
    byId("plot").focus({ preventScroll: true });
  }

  /** Title and text, with the figures of what is on the screen. */
  function write() {
    if (at < 0) return;
    setText(title, STEPS[at].title());
    const shown = plans.onScreen();
    if (!shown.every(({ figures, asked: wanted, shown: there }) => figures && wanted === there)) return;
    setText(
      text,
      STEPS[at].text(
        shown.map(({ figures, memory }) => ({
          bubble: formatPercent(figures?.bubble.global.ofTotal ?? 0),
          memory: formatNumber(memory),
        })),
      ),
    );
  }

  /** Outline what a step is about. */
  function mark(id?: string) {
    for (const each of document.querySelectorAll(`.${MARKED}`)) each.classList.remove(MARKED);
    if (id) byId(id).classList.add(MARKED);
  }

  return { begin };
}

const button = (id: string, label: string, act: () => void, kind: string) =>
  h("button", { class: `button ${kind}`, id, onclick: act }, label);
