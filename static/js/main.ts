// Starts the page.
import { exposeForTests } from "./app/inspection.ts";
import { PageView } from "./app/page_view.ts";
import { start } from "./app/start.ts";

const started = await start();
if (started) exposeForTests(new PageView(started));
