// Starts the page.
import { startExplore } from "./app/page_view.ts";

await startExplore();
