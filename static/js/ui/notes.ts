// Notes beside controls: sentences that are hidden where there is nothing to say, and the button with a remedy.
import { h, setText, show } from "./dom.ts";
import { t } from "../core/i18n/language.ts";

/** Write a note; "" hides it. */
export function setNote(node: HTMLElement, text: string) {
  show(node, text !== "");
  setText(node, text);
}

/** The button that puts the nearest legal value into a field. */
export const remedy = (
  field: string,
  value: unknown,
  act: () => void,
  selector: `button.${string}` = "button.button",
) => h(selector, { onclick: act }, t("Use {field} = {value}", { field, value }));
