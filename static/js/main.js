// Starts the page.
import { exposeForTests } from "./app/inspection.js";
import { PageView } from "./app/page_view.js";
import { start } from "./app/start.js";

const started = await start();
if (started) exposeForTests(new PageView(started));
