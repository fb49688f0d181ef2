// Starts the list of lessons, or a lesson.
import { startLesson } from "./app/learn/lesson.ts";
import { startList } from "./app/learn/lesson_list.ts";

if (document.getElementById("lesson-list")) startList();
else startLesson();
