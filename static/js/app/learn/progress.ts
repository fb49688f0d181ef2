// How far a reader has come, kept in this browser: the steps that were reached, the last one, what was answered, and
// when that was.
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
