// Starts the page.
import { exposeForTests } from "./app/inspection.ts";
import { PageView } from "./app/page_view.ts";
import { start } from "./app/start.ts";

const isPresented = takeKey("present") === "1";
const started = await start();
if (started) {
  const page = new PageView(started);
  exposeForTests(page);
  if (isPresented) page.presenting.enter();
}

/** A key of the address that is no part of a view; it is taken out. */
function takeKey(name: string) {
  const address = new URL(location.href);
  const value = address.searchParams.get(name);
  if (value === null) return null;
  const kept = address.search.slice(1).split("&").filter((part) => part.split("=")[0] !== name); // prettier-ignore
  history.replaceState(history.state, "", `${address.pathname}${kept.length ? `?${kept.join("&")}` : ""}`);
  return value;
}
