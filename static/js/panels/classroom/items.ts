// What students work on, in the order of the columns of the leader's grid, and in which order the students stand there.
import { t } from "../../core/i18n/language.ts";
import type { ItemState, Student } from "../../data/classroom/classroom.ts";

export type Order = "number" | "help" | "done";

const QUESTION = /^q(\d+)$/;

/** Every item that a student has touched, or that is asked now: questions of the class, tasks, questions of lessons. */
export function itemsOf(students: Iterable<Student>, asked: number | null): string[] {
  const found = new Set<string>(asked === null ? [] : [`q${asked}`]);
  for (const { items } of students) for (const item of Object.keys(items)) found.add(item);
  return [...found].sort((a, b) => placeOf(a) - placeOf(b) || a.localeCompare(b, "en", { numeric: true }));
}

const placeOf = (item: string) => (QUESTION.test(item) ? 0 : item.startsWith("build/") ? 1 : 2);

/** What a column is called: short, and in whole words. */
export function titleOf(item: string): { short: string; long: string } {
  const number = QUESTION.exec(item)?.[1];
  if (number) return { short: t("Q{n}", { n: number }), long: t("Question {n} of the class", { n: number }) };
  const [kind, slug, question] = item.split("/");
  const name = slug.replaceAll("-", " ");
  if (kind === "build") return { short: name, long: t("Task: {name}", { name }) };
  const short = question === undefined ? name : `${name} ${question}`;
  return { short, long: t("Lesson: {name}", { name: short }) };
}

export const countOf = ({ items }: Student, state: ItemState) =>
  Object.values(items).filter((each) => each === state).length;

/** Greater for who needs help more: stuck, then wrong answers. */
const need = (student: Student) => 1000 * countOf(student, "stuck") + countOf(student, "wrong");

/** Students in the order that the leader has chosen; ties by number. */
export function inOrder(students: Iterable<Student>, order: Order): Student[] {
  const key = { number: () => 0, help: need, done: (each: Student) => countOf(each, "done") }[order];
  return [...students].sort((a, b) => key(b) - key(a) || a.number - b.number);
}
