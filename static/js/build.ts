// Starts the workbench.
import { startBuild } from "./app/build_view.ts";

startBuild();
