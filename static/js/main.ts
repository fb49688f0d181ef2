// Starts the page.
import { exposeForTests } from "./app/inspection.ts";
import { PageView } from "./app/page_view.ts";
import { start } from "./app/start.ts";

const isPresented = isAskedToPresent();
const started = await start();
if (started) {
  const page = new PageView(started);
  exposeForTests(page);
  if (isPresented) page.presenting.enter();
}

/** Whether a link asks to present; that is no part of a view, and goes out of the address. */
function isAskedToPresent() {
  const { pathname, search } = location;
  const rest = search.replace(/([?&])present=1(&|$)/, (_, before, after) => (after ? before : ""));
  if (rest !== search) history.replaceState(history.state, "", pathname + rest);
  return rest !== search;
}
