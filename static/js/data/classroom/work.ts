// What a reader works at, for a class that this page may be in: a task of the workbench or a question of a lesson.
import type { ItemState } from "./classroom.ts";

type Listener = (item: string, state: ItemState) => void;
const listeners: Listener[] = [];

/** Call a task whenever an item has another state. Items are named as in docs/teaching/classes.md. */
export function onWork(task: Listener) {
  listeners.push(task);
}

/** state: computed only where somebody listens. */
export function tellWork(item: string, state: () => ItemState | null) {
  if (!listeners.length) return;
  const found = state();
  if (found) for (const listener of listeners) listener(item, found);
}
