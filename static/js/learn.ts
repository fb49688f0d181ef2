// Starts the list of lessons, the page for lecturers, the presenter's window, or a lesson.
import { startLesson } from "./app/learn/lesson.ts";
import { startList } from "./app/learn/lesson_list.ts";
import { startTeach } from "./app/learn/teach.ts";
import { startPresenter } from "./app/present/presenter_window.ts";

if (document.getElementById("lesson-list")) startList();
else if (document.getElementById("lesson-check")) startTeach();
else if (document.getElementById("presenter")) startPresenter();
else startLesson();
