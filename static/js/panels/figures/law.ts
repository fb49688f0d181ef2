// The laws of a family as mathematics: with names, with the numbers put in, the value, and whether the simulation
// agrees. The textbook's formula of the bubble comes first, the general law of the idle time after it.
import { h, replace } from "../../ui/dom.ts";
import { scrollByKeys } from "../../ui/keyboard.ts";
import { evaluateLaw, speaks, vars } from "../../core/families/formula.ts";
import { mathmlTerms } from "../../core/explain/mathml.ts";
import { language, t, tr } from "../../core/i18n/language.ts";
import { formatNumber, formatPercent } from "../../core/i18n/numbers.ts";
import { stepText } from "../../data/costs/time_unit.ts";
import { isOutOfDate, type Plan } from "../../data/plan.ts";
import type { Law, Schedule, Spec, Vars } from "../../core/schedule/types.ts";
import type { Plans } from "../../data/plans.ts";
import type { createBubbleTable } from "./bubble_table.ts";

const MOST = 4;
const FIRST = "share"; // the textbook's formula, where the family has one

/** key: all of a law but its numbers. */
type Shown = { key: string; node: HTMLElement; numbers: HTMLElement };
const before = new WeakMap<HTMLElement, Shown[]>();

/**
 * Show the laws of what is on the screen. While only their numbers change, formulas stay as they are: to lay out
 * mathematics takes milliseconds. table: for one schedule's textbook formula.
 */
export function showLaws(home: HTMLElement, plans: Plans, table: ReturnType<typeof createBubbleTable>) {
  const shown = plans.onScreen();
  const titles = plans.titles();
  const parts = shown.flatMap((plan, at) => lawsOf(plan, plans, shown.length > 1 ? titles[at] : null));
  const [{ shown: spec, schedule }] = shown;
  const { law: first } = (spec && shown.length === 1 && !!schedule && ranked(spec, schedule, plans)[0]) || {};
  table.show(first?.quantity === FIRST ? first : undefined, spec ?? shown[0].asked, {
    stages: schedule?.placement.stages ?? 1,
    n: schedule?.n ?? 1,
  });
  const now = parts.flatMap((part) => ("key" in part ? [part] : []));
  if (sameFormulas(now, parts.length, before.get(home) ?? [])) {
    now.forEach((law, k) => renew((before.get(home) as Shown[])[k], law));
    fitFormulas(home, true);
    return;
  }
  before.set(home, now.length === parts.length ? now : []);
  const nodes = parts.map((part) => ("key" in part ? part.node : part));
  if (nodes.length) nodes.splice(1, 0, table.node);
  replace(home, ...nodes);
  fitFormulas(home, false);
}

/** all: how many parts there are. */
const sameFormulas = (now: Shown[], all: number, old: Shown[]) =>
  now.length > 0 && now.length === all && now.length === old.length && now.every(({ key }, k) => key === old[k].key);

/** Bring what is shown of a law to what it is now. */
function renew(kept: Shown, { node, numbers }: Shown) {
  [...node.children].forEach((child, at) => {
    const there = child === numbers ? kept.numbers : kept.node.children[at];
    if (there.innerHTML !== child.innerHTML) there.replaceChildren(...child.childNodes);
  });
}

/** whose: the schedule's title, where there are several. */
function lawsOf(plan: Plan, plans: Plans, whose: string | null): (Shown | HTMLElement)[] {
  const { shown, schedule, figures } = plan;
  if (!shown || !schedule || !figures) return [];
  const family = plans.family(shown.family);
  if (!family) return [];
  const best = ranked(shown, schedule, plans);
  if (!best.length)
    return [
      h("p.meaning", {
        text: t("{family} has no closed formula; the times come from the simulation.", {
          family: whose ?? family.title,
        }),
      }),
    ];
  const brief = [FIRST, "bubble"].map((quantity) => best.find((each) => each.law.quantity === quantity));
  const kept = whose === null ? best.slice(0, MOST) : [brief[0] ?? brief[1] ?? best[0]];
  const names = namesOf(shown, schedule);
  return kept.map((each) => lawNode(each, measure(each.law, plan), names, whose, isOutOfDate(plan)));
}

const namesOf = (spec: Spec, schedule: Schedule) => vars(spec, { stages: schedule.placement.stages, n: schedule.n });

/**
 * The laws that apply, evaluated: the textbook's first, and one for each quantity and window, the exact one where a
 * family has several.
 */
function ranked(spec: Spec, schedule: Schedule, plans: Plans) {
  const names = namesOf(spec, schedule);
  const laws = plans.family(spec.family)?.laws ?? [];
  const evaluated = laws.filter((law) => speaks(law, names)).map((law) => ({ law, ...evaluateLaw(law, names) }));
  const best = evaluated.filter(
    (each, at) =>
      evaluated.findIndex(
        (other) =>
          sameKind(other.law, each.law) &&
          (other.exact || !evaluated.some((any) => any.exact && sameKind(any.law, each.law))),
      ) === at,
  );
  return best.sort((a, b) => Number(b.law.quantity === FIRST) - Number(a.law.quantity === FIRST));
}

const sameKind = (a: Law, b: Law) => a.quantity === b.quantity && a.window === b.window;

/** The simulated value of a law's quantity. */
function measure(law: Law, { figures, peak, schedule }: Plan) {
  if (!figures || !schedule) return NaN;
  if (law.quantity === "peak") return peak;
  const whole = law.window === "span" ? figures.longestStage : figures.makespan;
  if (law.quantity === "makespan") return whole;
  const idle = whole - figures.busy.reduce((a, b) => a + b, 0) / schedule.p;
  return law.quantity === "share" ? idle / whole : idle;
}

function valueText({ quantity }: Law, value: number) {
  if (quantity === "share") return formatPercent(value);
  return quantity === "peak" ? formatNumber(value) : stepText(value);
}

function lawNode(
  { law, value, exact, why }: { law: Law; value: number; exact: boolean; why: string | null },
  simulated: number,
  names: Vars,
  whose: string | null, // the schedule's title, where there are several
  old: boolean, // whether another schedule is asked for than the one on the screen
): Shown {
  const agrees = Math.abs(value - simulated) <= 1e-9 * Math.max(1, Math.abs(simulated));
  const node = h(
    "div.law",
    { "data-law": `${law.quantity}-${law.window}` },
    h("h3", { text: whose === null ? title(law) : t("{family}: {text}", { family: whose, text: title(law) }) }),
  );
  const maths = h("div.maths");
  maths.innerHTML = mathmlTerms(law.formula, null).join("");
  const numbers = h("div.maths.numbers");
  numbers.innerHTML = mathmlTerms(law.formula, names).join("");
  numbers.querySelector("math")?.prepend(equals());
  for (const each of [maths, numbers]) tame(each);
  const verdict =
    exact && agrees
      ? t("matches the simulation")
      : agrees
        ? t("equals the simulation here")
        : exact
          ? t("differs from the simulation")
          : t("approximate here");
  const plain = typeof law.formula === "number"; // which its value repeats
  node.append(
    ...(plain ? [] : [maths, numbers]),
    h(
      "p",
      h("span.value", { text: `= ${valueText(law, value)}` }),
      law.quantity === "bubble" ? h("span.per-device", { text: t("idle per device") }) : null,
      old
        ? h("span.verdict", { text: t("of the last valid schedule") })
        : h("span", { class: exact && agrees ? "badge good verdict" : "badge warn verdict", text: verdict }),
    ),
  );
  const reason = exact
    ? ""
    : sentence(tr(why ?? "")) +
      t(" ") +
      t("The simulation gives {value}.", {
        value: valueText(law, simulated),
      });
  if (reason) node.append(h("p.footnote.why", { text: reason }));
  if (law.source) node.append(h("p.footnote.source", { text: sentence(tr(law.source)) }));
  const parts = [...node.children].map(({ tagName, className }) => tagName + className).join();
  return { key: [whose, law.quantity, law.window, maths.innerHTML, parts].join("|"), node, numbers };
}

function equals() {
  const sign = document.createElementNS("http://www.w3.org/1998/Math/MathML", "mo");
  sign.textContent = "=";
  return sign;
}

/**
 * Fractions in full size, and brackets that only around something tall: some fonts stretch them by their neighbours.
 */
function tame(node: HTMLElement) {
  for (const math of node.querySelectorAll("math")) math.setAttribute("displaystyle", "true");
  for (const sign of node.querySelectorAll("mo")) {
    if (/^[()]$/.test(sign.textContent ?? "") && !sign.parentElement?.querySelector("mfrac, mtable"))
      sign.setAttribute("stretchy", "false");
  }
}

/** Formulas that are too wide shrink a little before they scroll. numbers: only those with numbers. */
function fitFormulas(home: HTMLElement, numbers: boolean) {
  const math = [...home.querySelectorAll("math")].filter((each) => !numbers || each.closest(".numbers"));
  const room = home.clientWidth;
  const widths = math.map((each) => each.getBoundingClientRect().width);
  math.forEach((each, at) => {
    if (widths[at] > room && room > 0) each.style.fontSize = `${Math.max(11, (15 * room) / widths[at])}px`;
  });
  for (const each of home.querySelectorAll<HTMLElement>(".maths")) scrollByKeys(each, t("Formula"));
}

function title(law: Law) {
  if (law.quantity === "peak") return t("Peak, chunks in flight on the worst rank");
  if (law.quantity === "share") return t("Bubble, textbook formula");
  const span = law.window === "span";
  if (law.quantity === "bubble")
    return span ? t("Idle time per device, busiest device's window") : t("Idle time per device, whole step");
  return span ? t("Step time, busiest device's window") : t("Step time, first start to last end");
}

const sentence = (text: string) =>
  text
    ? (text.startsWith("arXiv") || language() !== "en" ? text[0] : text[0].toUpperCase()) +
      text.slice(1) +
      (/[.。]$/.test(text) ? "" : t("."))
    : "";
