// How far a reader has come, kept in this browser: the steps that were reached, the last one, what was answered, and
// when that was.
import { byId, setText } from "../../ui/dom.ts";
import { recall, remember } from "../../ui/remembered.ts";
import type { Answered } from "./questions.ts";

type Progress = { at: string; seen: string[]; answers: Record<string, Answered>; when: number };

const nameOf = (slug: string) => `lesson.${slug}`;

/** What is kept of a lesson; what another version of this page wrote may lack parts. */
export function progressOf(slug: string): Progress {
  let kept;
  try {
    kept = JSON.parse(recall(nameOf(slug)) ?? "{}");
  } catch {
    kept = {};
  }
  const seen = Array.isArray(kept?.seen) ? kept.seen.filter((each: unknown) => typeof each === "string") : [];
  const answers = kept?.answers && typeof kept.answers === "object" ? kept.answers : {};
  const when = Number(kept?.when) || 0;
  return { at: typeof kept?.at === "string" ? kept.at : "", seen, answers, when };
}

/** Every change is made to what is kept now: another tab may have the same lesson open. */
export function createProgress(slug: string) {
  function change(make: (progress: Progress) => void) {
    const progress = progressOf(slug);
    make(progress);
    progress.when = Date.now();
    remember(nameOf(slug), JSON.stringify(progress));
  }
  return {
    reach(anchor: string) {
      change((progress) => {
        progress.at = anchor;
        if (!progress.seen.includes(anchor)) progress.seen.push(anchor);
      });
    },
    keep(number: number, answered: Answered) {
      change(({ answers }) => {
        answers[number] = answered;
      });
    },
    kept(number: number): Answered | null {
      const answered = progressOf(slug).answers[number];
      return typeof answered?.given === "string" ? answered : null;
    },
    forget: () => remember(nameOf(slug), "{}"),
  };
}

/** How many questions were answered right, at the end of the lesson. Returns a task that writes it anew. */
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
