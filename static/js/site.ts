// Starts a page of the site without a server: the timeline or the workbench, from one script that a disk can give.
import { startBuild } from "./app/build_view.ts";
import { startExplore } from "./app/page_view.ts";

void (document.getElementById("task-place") ? startBuild() : startExplore());
