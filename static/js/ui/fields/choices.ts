// Choices of one among several: lists, and buttons side by side.
import { h, isNew, replace } from "../dom.ts";

/** A value and its text. */
export type Choice = [string, string];

export const optionNodes = (choices: Choice[]) => choices.map(([value, text]) => h("option", { value, text }));

/** Fill a list where its choices are others, and choose one of them. */
export function fillSelect(select: HTMLSelectElement, choices: Choice[], value: unknown) {
  if (isNew(select, choices)) replace(select, ...optionNodes(choices));
  select.value = String(value);
}

type Segment = { text: string; title?: string; [data: `data-${string}`]: string | number };

/**
 * Buttons of which one is pressed, made anew only where they differ, so that one stays under the pointer; the keyboard
 * focus stays where it was.
 */
export function fillSegments(node: HTMLElement, segments: Segment[], pressed: number, pick: (at: number) => void) {
  if (!isNew(node, [segments, pressed])) return;
  const focused = [...node.children].indexOf(document.activeElement as Element);
  const buttons = segments.map((segment, at) =>
    h("button", { ...segment, "aria-pressed": String(at === pressed), onclick: () => pick(at) }),
  );
  replace(node, ...buttons);
  buttons[focused]?.focus();
}
