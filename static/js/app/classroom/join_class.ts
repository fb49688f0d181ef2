// Follow or lead a class with a page where its tab is in one; what that needs is loaded only then.
import { classOfTab } from "../../data/classroom/class_of_tab.ts";
import type { Place } from "./places.ts";

export async function joinClass(place: () => Promise<Place>) {
  const found = classOfTab();
  if (!found) return;
  const { createStrip } = await import("./strip.ts");
  createStrip(await place(), found);
}
