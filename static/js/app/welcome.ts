// The line over the first visit's timeline: what one sees, and three ways on. It leaves when it is closed, and when
// other schedules than the first visit's are on the screen.
import { t } from "../core/i18n/language.ts";
import { FIRST_VISIT, isFirstVisit } from "../core/state/first_visit.ts";
import { formatNumber, formatPercent } from "../core/i18n/numbers.ts";
import { byId, h, setText, show } from "../ui/dom.ts";
import { onStage } from "../ui/frame_loop.ts";
import { recall, remember } from "../ui/remembered.ts";
import type { Plan } from "../data/plan.ts";
import type { Plans } from "../data/plans.ts";
import type { Store } from "../data/store.ts";

const CLOSED = "welcome"; // what is remembered once a reader has closed it
const FAMILIES = [...new URLSearchParams(FIRST_VISIT).values()].join();
/** A model that needs a pipeline, on the machine that it is often trained on. */
const PLAN_LINK = "/?family=1f1b&p=8&m=32&m.model=llama3-70b&m.machine=h100&m.tp=8&m.data=8&m.zero=1&tab=plan";

/** plans: GPipe's and 1F1B's. */
function compared(plans: Plan[]) {
  const [first, second] = plans;
  if (!first.figures || !second?.figures) return "";
  const [a, b] = [first, second].map(({ figures }) => formatPercent(figures?.bubble.global.ofTotal ?? 0));
  const holes = { a, b, held: formatNumber(first.memory), less: formatNumber(second.memory) };
  if (a === b && first.memory === second.memory)
    return t("Both waste {a} of the step; both hold {held} micro-batches in memory.", holes);
  return a === b
    ? t("Both waste {a} of the step; GPipe holds {held} micro-batches in memory, 1F1B {less}.", holes)
    : t("GPipe wastes {a} of the step, 1F1B {b}; GPipe holds {held} micro-batches in memory, 1F1B {less}.", holes);
}

/** teach: opens the share dialog. */
export function createWelcome({ store, plans, teach }: { store: Store; plans: Plans; teach: () => void }) {
  if (!isFirstVisit(location.search) || recall(CLOSED)) return;
  const node = byId("welcome");
  let closed = false;
  const figures = h("span.welcome-figures");
  const close = h(
    "button#welcome-close.button.icon",
    {
      "aria-label": t("Close this line"),
      onclick: () => {
        closed = true;
        remember(CLOSED, "closed");
        sync();
        byId("plot").focus();
      },
    },
    "×",
  );
  node.append(
    h("p", h("strong", { text: t("Grey is wasted GPU time. Drag p and m.") }), " ", figures),
    h(
      "div.welcome-ways",
      h("a#welcome-learn.button.soft", { href: "/learn" }, t("Learn")),
      h("button#welcome-teach.button.soft", { onclick: teach }, t("Teach")),
      h("a#welcome-plan.button.soft", { href: PLAN_LINK }, t("Plan a training run")),
      close,
    ),
  );

  function sync() {
    const shown = plans.onScreen();
    const families = shown.map((plan) => (plan.shown ?? plan.asked).family);
    show(node, !closed && families.join() === FAMILIES);
    if (!node.hidden) setText(figures, compared(shown));
  }
  onStage("figures", sync);
  store.subscribe(sync);
  sync();
}
