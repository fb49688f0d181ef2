// Starts the list of lessons, or a lesson.
import { startLesson } from "./app/learn/lesson.js";
import { startList } from "./app/learn/lesson_list.js";

if (document.getElementById("lesson-list")) startList();
else startLesson();
