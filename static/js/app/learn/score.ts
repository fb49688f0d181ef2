// The end of a lesson: how many of its questions were answered right, each with a way back to it.
import { byId, setText } from "../../ui/dom.ts";
import type { createProgress } from "./progress.ts";

/** Returns a task that writes it anew. */
export function createScore(progress: ReturnType<typeof createProgress>) {
  const box = document.getElementById("lesson-score");
  if (!box) return () => {};
  const marks = [...box.querySelectorAll("li")];
  const said = box.querySelector("p") as HTMLElement;
  const { score = "", open = "" } = byId("lesson-words").dataset;
  box.hidden = false;

  function sync() {
    const answers = marks.map((_, at) => progress.kept(at + 1));
    marks.forEach((mark, at) => {
      mark.dataset.state = answers[at] === null ? "open" : answers[at].right ? "right" : "wrong";
    });
    const right = answers.filter((answer) => answer?.right).length;
    const left = answers.filter((answer) => answer === null).length;
    const text = score.replace("{right}", String(right)).replace("{all}", String(marks.length));
    setText(said, left ? `${text} · ${open.replace("{open}", String(left))}` : text);
  }

  sync();
  return sync;
}
