// Starts the pages of a class.
import { startClass } from "./app/classroom/start.ts";

startClass();
