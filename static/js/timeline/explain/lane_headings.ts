// A heading over each lane group: what it is and the two figures that matter most.
import { stepText } from "../../data/costs/time_unit.ts";
import { h, replace, setText, show } from "../../ui/dom.ts";
import { againName, modesName, vocabularyName } from "../../data/option_names.ts";
import { t } from "../../core/i18n/language.ts";
import { formatPercent } from "../../core/i18n/numbers.ts";
import type { Layout } from "../../core/timeline/layout.ts";
import type { Plans } from "../../data/plans.ts";
import type { Plan } from "../../data/plan.ts";
import type { Spec } from "../../core/schedule/types.ts";

type Head = {
  node: HTMLElement;
  badge: HTMLElement;
  title: HTMLElement;
  sizes: HTMLElement;
  bubble: HTMLElement;
  span: HTMLElement;
  close: HTMLElement;
};

/** bubble, makespan: NaN where they are not known. */
type Heading = {
  title: string;
  sizes: string;
  bubble: number;
  makespan: number;
  badge: string;
  tone: string;
  many?: boolean; // several schedules are on the screen
};

/** drop: takes a plan off the screen. */
export function createHeads(plot: HTMLElement, drop: (id: string) => void) {
  const headings = new Map<string, Head>();

  function head(id: string) {
    let found = headings.get(id);
    if (!found) {
      const badge = h("span", { class: "badge", hidden: true });
      const title = h("strong");
      const sizes = h("span", { class: "optional" });
      const bubble = h("span", { class: "num" });
      const span = h("span", { class: "num optional" });
      const node = h(
        "div",
        { class: "lane-head", "data-lane": id },
        title,
        sizes,
        badge,
        h("span", { class: "push" }, `${t("bubble")} `, bubble),
        h("span", { class: "optional" }, `${t("step time")} `, span),
      );
      const close = h("button", { type: "button", class: "lane-close", hidden: true, onclick: () => drop(id) }, "×");
      node.append(close);
      plot.append(node);
      found = { node, badge, title, sizes, bubble, span, close };
      headings.set(id, found);
    }
    return found;
  }

  return {
    place(layout: Layout) {
      for (const [id, each] of headings) {
        const group = layout.groups.find((g) => g.id === id);
        show(each.node, group !== undefined && group.titleY > -8);
        if (group) each.node.style.transform = `translateY(${group.titleY + 2}px)`;
      }
    },
    write(id: string, { title, sizes, bubble, makespan, badge, tone, many = false }: Heading) {
      const each = head(id);
      setText(each.title, title);
      setText(each.sizes, sizes);
      setText(each.bubble, Number.isNaN(bubble) ? "–" : formatPercent(bubble));
      setText(each.span, Number.isNaN(makespan) ? "–" : stepText(makespan));
      show(each.close, many);
      const off = t("Take {title} off the screen", { title });
      if (many && each.close.title !== off) {
        each.close.title = off;
        each.close.setAttribute("aria-label", off);
      }
      show(each.badge, badge !== "");
      if (each.badge.textContent !== badge) replace(each.badge, badge);
      each.badge.className = `badge ${tone}`;
    },
  };
}

/** What is not plain about a schedule, in a word each. */
function optionsOf(spec: Spec) {
  const words = [];
  if (spec.vocabulary !== "plain") words.push(vocabularyName(spec.vocabulary));
  if (spec.offload !== "none") words.push(t("offload {how}", { how: modesName(spec.offload) }));
  if (spec.recompute !== "none") words.push(t("recompute {what}", { what: modesName(spec.recompute) }));
  if (spec.recompute_at !== "backward") words.push(againName(spec.recompute_at));
  if (spec.spared) words.push(t("{count} spared", { count: spec.spared }));
  if (spec.layers !== null) words.push(t("layers"));
  if (spec.memory !== null) words.push(t("limit {limit}", { limit: spec.memory }));
  return words;
}

const LETTERS = { F: "f", I: "i", W: "w", comm: "c" };
const MOST_COSTS = 2; // in a heading

/** The costs in which a plan differs from one of the same name and sizes, which only they tell apart. */
function ownCosts(spec: Spec, others: Spec[]) {
  const named = ({ family, p, m, v, ...rest }: Spec) => [family, p, m, v, ...optionsOf(rest as Spec)].join();
  const alike = others.filter((other) => other !== spec && named(other) === named(spec));
  const costOf = ({ costs }: Spec, key: keyof typeof LETTERS) => String(costs[key]);
  const keys = Object.keys(LETTERS) as (keyof typeof LETTERS)[];
  const differing = keys.filter((key) => alike.some((other) => costOf(other, key) !== costOf(spec, key)));
  return differing.slice(0, MOST_COSTS).map((key) => `${LETTERS[key]} ${costOf(spec, key)}`);
}

export function headText(plan: Plan, plans: Plans, two: boolean): Heading {
  const spec = plan.shown ?? plan.asked;
  const family = plans.family(spec.family);
  const sizes = [`p ${spec.p}`, `m ${spec.m}`];
  if (family && family.v.max > 1) sizes.push(`v ${spec.v}`);
  sizes.push(...optionsOf(spec));
  if (two)
    sizes.push(
      ...ownCosts(
        spec,
        plans.onScreen().map((each) => each.shown ?? each.asked),
      ),
    );
  const stale = plan.shown !== plan.asked;
  let badge = "";
  if (stale && plan.offline) badge = t("Server unreachable: showing the last schedule");
  else if (stale && plan.error) badge = t("Showing the last valid schedule");
  return {
    title: `${two ? `${plan.id.toUpperCase()} · ` : ""}${family?.title ?? spec.family}`,
    sizes: sizes.join(" · "),
    bubble: plan.figures?.bubble.global.ofTotal ?? NaN,
    makespan: plan.figures?.makespan ?? NaN,
    badge,
    tone: "warn",
    many: two,
  };
}
