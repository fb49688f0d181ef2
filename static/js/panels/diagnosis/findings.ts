// What was found in a measured step, with what its repair saves and a way to its place.
import { causeName } from "./causes.ts";
import { filled, h } from "../../ui/dom.ts";
import { t, tr } from "../../core/i18n/language.ts";
import { formatPercent } from "../../core/i18n/numbers.ts";
import type { Diagnosis, Finding } from "../../data/runs/diagnosis.ts";

const LEAST = 0.0005; // of the step: a smaller repair is not listed

/** show: goes to an op on the timeline. pick: shows a cause alone in the charts. */
type Ways = { show: (op: string) => void; pick: (cause: string) => void };

export function findingsList(found: Diagnosis, ways: Ways) {
  const named = new Set(found.findings.map(({ cause }) => cause));
  const others = Object.entries(found.what_if)
    .filter(([cause, saves]) => !named.has(cause) && Math.abs(saves) >= LEAST)
    .sort((a, b) => b[1] - a[1]);
  const most = Math.max(...found.findings.map(({ saves }) => saves));
  return h(
    "section",
    h("h3", { text: t("What each repair alone saves of the step") }),
    h("ol.diagnosis-findings", ...found.findings.map((each) => findingItem(each, most, ways))),
    h("p.muted", { text: others.map(([cause, saves]) => `${causeName(cause)} ${formatPercent(saves)}`).join(" · ") }),
  );
}

/** most: what the best repair saves. */
function findingItem({ cause, saves, place: { op }, text }: Finding, most: number, { show, pick }: Ways) {
  const bar = h("span.diagnosis-part", { "data-cause": cause });
  bar.style.width = `${Math.max(2, (100 * saves) / most)}%`;
  const way = op
    ? h("button.button.soft", { onclick: () => show(op) }, ...filled(t("Show {op}"), { op: h("code", { text: op }) }))
    : h("button.button.soft", { onclick: () => pick(cause) }, t("Show where"));
  return h(
    "li",
    h("strong", { text: formatPercent(saves) }),
    h("span.diagnosis-saves", { "aria-hidden": "true" }, bar),
    h("span", h("b", { text: causeName(cause) }), ` ${tr(text)}`),
    way,
  );
}
