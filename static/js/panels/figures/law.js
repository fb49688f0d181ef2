// The laws of a family as mathematics: with names, with the numbers put in, the value, and whether the simulation
// agrees. The textbook's formula of the bubble comes first, the general law of the idle time after it.
import { h, replace } from "../../ui/dom.js";
import { judge, speaks, vars } from "../../core/schedule/formula.js";
import { mathmlTerms } from "../../core/schedule/mathml.js";
import { language, t, tr } from "../../core/i18n/language.js";
import { formatNumber, formatPercent } from "../../core/i18n/numbers.js";
import { stepText } from "../../data/costs/time_unit.js";
import { isOutOfDate } from "../../data/plan.js";

/** @import {Law} from "../../core/schedule/types.js" */
/** @import {Plan} from "../../data/plan.js" */
/** @import {Plans} from "../../data/plans.js" */

const MOST = 4;
const FIRST = "share"; // the textbook's formula, where the family has one

/** @param {HTMLElement} home @param {Plans} plans */
export function showLaws(home, plans) {
  const shown = plans.onScreen();
  const parts = shown.flatMap((plan) => lawsOf(plan, plans, shown.length > 1));
  replace(home, ...parts);
  fitFormulas(home);
}

/** @param {Plan} plan @param {Plans} plans @param {boolean} two */
function lawsOf(plan, plans, two) {
  const { shown, schedule, figures } = plan;
  if (!shown || !schedule || !figures) return [];
  const family = plans.family(shown.family);
  if (!family) return [];
  const names = { ...vars(shown, { stages: schedule.placement.stages, n: schedule.n }), lifo: Number(shown.lifo) };
  const judged = family.laws.filter((law) => speaks(law, names)).map((law) => ({ law, ...judge(law, names) }));
  // One entry a quantity and window, the exact one where a family offers several.
  const best = judged.filter(
    (each, at) =>
      judged.findIndex(
        (other) =>
          sameKind(other.law, each.law) &&
          (other.exact || !judged.some((any) => any.exact && sameKind(any.law, each.law))),
      ) === at,
  );
  if (!best.length)
    return [
      h("p", {
        class: "meaning",
        text: t("{family} has no closed formula; the times come from the simulation.", { family: family.title }),
      }),
    ];
  best.sort((a, b) => Number(b.law.quantity === FIRST) - Number(a.law.quantity === FIRST));
  const brief = [FIRST, "bubble"].map((quantity) => best.find((each) => each.law.quantity === quantity));
  const kept = two ? [brief[0] ?? brief[1] ?? best[0]] : best.slice(0, MOST);
  const whose = two ? family.title : null;
  return kept.map((each) => lawNode(each, measure(each.law, plan), names, whose, isOutOfDate(plan)));
}

/** @param {Law} a @param {Law} b */
const sameKind = (a, b) => a.quantity === b.quantity && a.window === b.window;

/** The simulated value of a law's quantity. @param {Law} law @param {Plan} plan */
function measure(law, { figures, peak, schedule }) {
  if (!figures || !schedule) return NaN;
  if (law.quantity === "peak") return peak;
  const whole = law.window === "span" ? figures.longestStage : figures.makespan;
  if (law.quantity === "makespan") return whole;
  const idle = whole - figures.busy.reduce((a, b) => a + b, 0) / schedule.p;
  return law.quantity === "share" ? idle / whole : idle;
}

/** @param {Law} law @param {number} value */
function valueText({ quantity }, value) {
  if (quantity === "share") return formatPercent(value);
  return quantity === "peak" ? formatNumber(value) : stepText(value);
}

/**
 * @param {{law: Law, value: number, exact: boolean, why: string | null}} judged
 * @param {number} simulated
 * @param {import("../../core/schedule/types.js").Vars} names
 * @param {string | null} whose a family's title, where there are several
 * @param {boolean} old whether another schedule is asked for than the one on the screen
 */
function lawNode({ law, value, exact, why }, simulated, names, whose, old) {
  const agrees = Math.abs(value - simulated) <= 1e-9 * Math.max(1, Math.abs(simulated));
  const node = h(
    "div",
    { class: "law", "data-law": `${law.quantity}-${law.window}` },
    h("h3", { text: whose === null ? title(law) : t("{family}: {text}", { family: whose, text: title(law) }) }),
  );
  const maths = h("div", { class: "maths" });
  maths.innerHTML = mathmlTerms(law.formula, null).join("");
  const numbers = h("div", { class: "maths numbers" });
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
  node.append(
    maths,
    numbers,
    h(
      "p",
      {},
      h("span", { class: "value", text: `= ${valueText(law, value)}` }),
      law.quantity === "bubble" ? h("span", { class: "per-device", text: t("idle per device") }) : null,
      old
        ? h("span", { class: "verdict", text: t("of the last valid schedule") })
        : h("span", { class: exact && agrees ? "verdict exact" : "verdict not", text: verdict }),
    ),
  );
  const reason = exact
    ? ""
    : sentence(tr(why ?? "")) +
      t(" ") +
      t("The simulation gives {value}.", {
        value: valueText(law, simulated),
      });
  if (reason) node.append(h("p", { class: "why", text: reason }));
  if (law.source) node.append(h("p", { class: "source", text: sentence(tr(law.source)) }));
  return node;
}

function equals() {
  const sign = document.createElementNS("http://www.w3.org/1998/Math/MathML", "mo");
  sign.textContent = "=";
  return sign;
}

/**
 * Fractions in full size, and brackets that only around something tall: some fonts stretch them by their neighbours.
 * @param {HTMLElement} node
 */
function tame(node) {
  for (const math of node.querySelectorAll("math")) math.setAttribute("displaystyle", "true");
  for (const sign of node.querySelectorAll("mo")) {
    if (/^[()]$/.test(sign.textContent ?? "") && !sign.parentElement?.querySelector("mfrac, mtable"))
      sign.setAttribute("stretchy", "false");
  }
}

/** Formulas that are too wide shrink a little before they scroll. @param {HTMLElement} home */
function fitFormulas(home) {
  const math = [...home.querySelectorAll("math")];
  const room = home.clientWidth;
  const widths = math.map((each) => each.getBoundingClientRect().width);
  math.forEach((each, at) => {
    if (widths[at] > room && room > 0) each.style.fontSize = `${Math.max(11, (15 * room) / widths[at])}px`;
  });
}

/** @param {Law} law */
function title(law) {
  if (law.quantity === "peak") return t("Peak, chunks in flight on the worst rank");
  if (law.quantity === "share") return t("Bubble, textbook formula");
  const span = law.window === "span";
  if (law.quantity === "bubble")
    return span ? t("Idle time per device, busiest device's window") : t("Idle time per device, whole step");
  return span ? t("Step time, busiest device's window") : t("Step time, first start to last end");
}

/** @param {string} text */
const sentence = (text) =>
  text
    ? (text.startsWith("arXiv") || language() !== "en" ? text[0] : text[0].toUpperCase()) +
      text.slice(1) +
      (/[.。]$/.test(text) ? "" : t("."))
    : "";
