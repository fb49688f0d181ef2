// The stars of the tasks that this browser has solved. Each task has an entry of its own, so that two tabs with
// different tasks lose nothing, and none that is written is lower than the one before.
import { recall, remember } from "../../ui/remembered.ts";
import type { Listed } from "./tasks.ts";

export const MOST_STARS = 3;
const PREFIX = "task.";

/** 0 for a task that is not solved. */
export function starsKept(slug: string) {
  const kept = Number(recall(PREFIX + slug));
  return Number.isInteger(kept) && kept > 0 ? Math.min(kept, MOST_STARS) : 0;
}

export function keepStars(slug: string, stars: number) {
  if (stars > starsKept(slug)) remember(PREFIX + slug, String(stars));
}

export function forgetStars(tasks: Listed[]) {
  for (const { slug } of tasks) if (starsKept(slug)) remember(PREFIX + slug, "0");
}

/** Call a task when another tab has solved one. */
export function onStarsElsewhere(task: () => void) {
  window.addEventListener("storage", ({ key }) => {
    if (key === null || key.includes(`.${PREFIX}`)) task();
  });
}

/** The task to go on with: the first unsolved one after a task, from its idea on and then from the beginning. */
export function nextTask(tasks: Listed[], slug = ""): Listed | null {
  const at = tasks.findIndex((each) => each.slug === slug) + 1;
  const rest = [...tasks.slice(at), ...tasks.slice(0, at)].filter((each) => each.slug !== slug);
  return rest.find((each) => !starsKept(each.slug)) ?? (slug ? (rest[0] ?? null) : null);
}
