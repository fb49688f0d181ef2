// The first screen, of the address that names no schedule: one picture, one slider, what the waste costs, and the ways
// on. The server has written its texts; here they follow the slider. The panels are there and hidden until a reader
// opens the whole instrument.
import { t } from "../core/i18n/language.ts";
import { formatCount, formatPercent } from "../core/i18n/numbers.ts";
import { isFirstVisit } from "../core/state/first_visit.ts";
import { withField } from "../data/spec_fields.ts";
import { byId, setText, show } from "../ui/dom.ts";
import { onStage } from "../ui/frame_loop.ts";
import { recall, remember } from "../ui/remembered.ts";
import type { Plans } from "../data/plans.ts";
import type { Store } from "../data/store.ts";

const PRICE = "gpu-hour"; // what the price is remembered as
const [MOST_DOLLARS, HOURS, MANY] = [1000, 24, 512]; // $ of a GPU-hour, hours of a day, GPUs of the larger example
const ROUND = 0.1; // shares from here on are read without a decimal

const shareText = (x: number) => (x < ROUND ? formatPercent(x) : `${Math.round(100 * x)} %`);

/** The price that a text names, in $; null where it names none. */
function readPrice(text: string) {
  const price = /^\d+([.,]\d+)?$/.test(text.trim()) ? Number(text.trim().replace(",", ".")) : NaN;
  return price >= 0 && price <= MOST_DOLLARS ? price : null;
}

/** Whether the first screen is shown, not the whole instrument. */
export const isStory = () => document.body.classList.contains("story");

/** tour: starts it, over the instrument. */
export function createStory({ store, plans, tour }: { store: Store; plans: Plans; tour: () => void }) {
  if (!document.getElementById("story-title")) return;
  const slider = byId("story-m") as HTMLInputElement;
  const box = byId("story-price") as HTMLInputElement;
  const problem = byId("story-price-problem");
  let price = readPrice(recall(PRICE) ?? "") ?? Number(box.value);
  box.value = price.toFixed(2);

  function write() {
    const [plan] = plans.onScreen();
    if (!plan?.figures || !isStory()) return;
    const { p, m } = store.get().spec;
    const idle = plan.figures.bubble.global.ofTotal;
    const dollars = (gpus: number) => `$${formatCount(Math.round(price * HOURS * gpus * idle))}`;
    setText(byId("story-idle"), t("Your {gpus} GPUs idle {share} of the step.", { gpus: p, share: shareText(idle) }));
    setText(byId("story-pieces"), String(m));
    setText(
      byId("story-waste"),
      t("The grey costs {day} a day here, and {many_day} a day on {many} such GPUs.", {
        day: dollars(p),
        many_day: dollars(MANY),
        many: MANY,
      }),
    );
    setText(
      byId("story-catch"),
      t(
        "More pieces mean less grey, but each GPU then keeps the activations of all {pieces} in memory. What decides " +
          "is the order of the work.",
        { pieces: m },
      ),
    );
  }

  function open() {
    store.visit(`?family=gpipe&m=${store.get().spec.m}&b.family=1f1b`, "push");
    turn(false);
    window.scrollTo(0, 0);
    byId("plot").focus({ preventScroll: true });
  }

  /** Show the first screen, or the whole instrument. */
  function turn(on: boolean) {
    document.body.classList.toggle("story", on);
    for (const part of document.querySelectorAll<HTMLElement>(".story-part")) show(part, on);
    const explore = document.querySelector('.site a[href*="family="]');
    if (on) explore?.removeAttribute("aria-current");
    else explore?.setAttribute("aria-current", "page");
    slider.value = String(store.get().spec.m);
    write();
  }

  slider.addEventListener("input", () =>
    store.set({ spec: withField(store.get().spec, "m", Number(slider.value)) }, "none"),
  );
  box.addEventListener("input", () => {
    const read = readPrice(box.value);
    box.setAttribute("aria-invalid", String(read === null));
    setText(
      problem,
      read === null ? t("The price is a number of dollars from 0 to {most}.", { most: MOST_DOLLARS }) : "",
    );
    show(problem, read === null);
    if (read === null) return;
    price = read;
    remember(PRICE, String(price));
    write();
  });
  byId("story-open").addEventListener("click", (event) => {
    event.preventDefault();
    open();
  });
  byId("story-tour").addEventListener("click", () => {
    open();
    tour();
  });
  onStage("figures", write);
  store.subscribe(({ view }, before) => {
    if (view.tab !== before.view.tab && view.tab && isStory()) turn(false);
  });
  window.addEventListener("popstate", () => turn(isFirstVisit(location.search)));
  if (matchMedia("(pointer: fine)").matches && document.activeElement === document.body)
    slider.focus({ preventScroll: true });
}
