// Starts the page.
import { exposeForTests } from "./app/inspection.ts";
import { PageView } from "./app/page_view.ts";
import { startsPresenting } from "./app/present/presenting.ts";
import { start } from "./app/start.ts";

const isPresented = startsPresenting();
const started = await start();
if (started) {
  const page = new PageView(started);
  exposeForTests(page);
  if (isPresented) page.presenting.enter();
}
