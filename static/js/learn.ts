// Starts the list of lessons, the page for lecturers, or a lesson.
import { startLesson } from "./app/learn/lesson.ts";
import { startList } from "./app/learn/lesson_list.ts";
import { startTeach } from "./app/learn/teach.ts";

if (document.getElementById("lesson-list")) startList();
else if (document.getElementById("lesson-check")) startTeach();
else startLesson();
