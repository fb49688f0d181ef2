// Questions that are answered on the timeline: with its sliders, until a goal is reached, or by what is selected there.
import { t } from "../../core/i18n/language.ts";
import { formatNumber, formatPercent } from "../../core/i18n/numbers.ts";
import { invalidate, onStage } from "../../ui/frame_loop.ts";
import { setText } from "../../ui/dom.ts";
import { isMet, type Found, type Goal } from "./grade.ts";
import type { Plan } from "../../data/plan.ts";
import { selectedPlace } from "../../timeline/explain/selected_place.ts";
import type { Trace } from "../../timeline/trace.ts";
import type { TimelineView } from "../timeline_view.ts";
import type { SceneView } from "./scene_view.ts";
import type { createSizes } from "./sizes.ts";

const sizesOf = (form: HTMLElement) => form.dataset.sizes?.split(" ") ?? [];

export function createOnTimeline(view: TimelineView, scene: SceneView, sizes: ReturnType<typeof createSizes>) {
  const forms = [...document.querySelectorAll("form.question[data-query]")] as HTMLFormElement[];
  let form: HTMLFormElement | null = null; // the question that is on the timeline
  let released = false; // whether a slider has just been let go

  scene.onTake((node) => {
    form = forms.find((each) => each === node && !("over" in each.dataset)) ?? null;
    if (form) view.selection.clear();
    sizes.allow(form && sizesOf(form));
    forms.forEach((each) => delete each.dataset.answer);
    invalidate("figures");
  });
  for (const each of forms) {
    each.querySelector("[data-start]")?.addEventListener("click", () => scene.take(each, true));
    each.addEventListener("over", () => {
      if (form !== each) return;
      form = null;
      sizes.allow(null);
    });
  }
  for (const slider of sizes.inputs)
    slider.addEventListener("change", () => {
      released = true;
      invalidate("figures");
    });
  onStage("figures", () => {
    if (!form || !scene.isSettled()) return;
    const chosen = form.querySelector(".chosen") as HTMLElement;
    if (form.dataset.kind === "find") showSelected(form, chosen, view.selection.current());
    else if (showSizes(form, chosen, view.plans.first, scene.isChanged()) && released) form.requestSubmit();
    released = false;
  });
}

/** What the goals of a question are about. */
export const valuesOf = ({ figures, memory }: Plan): Found | undefined =>
  figures ? { bubble: figures.bubble.global.ofTotal, makespan: figures.makespan, peak: memory } : undefined;

/** Returns whether the goals are met. */
function showSizes(form: HTMLFormElement, chosen: HTMLElement, plan: Plan, changed: boolean) {
  const { shown } = plan;
  const values = valuesOf(plan);
  if (!values || !shown || shown !== plan.asked) return false;
  const goals: Goal[] = JSON.parse(form.dataset.goals ?? "[]");
  const names = { bubble: t("bubble"), makespan: t("step time"), peak: t("peak memory") };
  const found = goals.map(({ quantity }) => {
    const value = quantity === "bubble" ? formatPercent(values.bubble) : formatNumber(values[quantity]);
    return `${names[quantity]} ${value}`;
  });
  const set = sizesOf(form).map((size) => [size, shown[size as "p" | "m" | "v"]]);
  setText(chosen, [...set.map(([size, value]) => `${size} = ${value}`), ...found].join(" · "));
  if (changed) form.dataset.answer = set.map(([size, value]) => `${size}=${value}`).join(" ");
  const met = goals.every((goal) => isMet(goal, values[goal.quantity]));
  chosen.classList.toggle("is-met", met);
  return met && changed;
}

function showSelected(form: HTMLFormElement, chosen: HTMLElement, trace: Trace | null) {
  const found = selectedPlace(trace);
  if (found) form.dataset.answer = found.answer;
  else delete form.dataset.answer;
  setText(chosen, found?.text ?? t("Nothing is selected yet."));
}
