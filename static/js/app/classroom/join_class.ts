// Follow or lead a class with a page where its tab is in one; what that needs is loaded only then.
import { classOfTab } from "../../data/classroom/class_of_tab.ts";
import { h } from "../../ui/dom.ts";
import type { Place } from "./places.ts";

const STYLE = "/static/vendor/app/css/strip.css";

export async function joinClass(place: () => Promise<Place>) {
  const found = classOfTab();
  if (!found) return;
  const [here, { createStrip }] = await Promise.all([place(), import("./strip.ts"), loadStyle()]);
  createStrip(here, found);
}

/** Resolves also where it does not come: the strip is of use without it. */
const loadStyle = () =>
  new Promise<void>((resolve) => {
    document.head.append(
      h("link", { rel: "stylesheet", href: STYLE, onload: () => resolve(), onerror: () => resolve() }),
    );
  });
