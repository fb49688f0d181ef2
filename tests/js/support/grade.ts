// Grades answers for tests/lessons/test_grade.py: {"cases": [[question, given, found], ...], "reasons": {code:
// template}} a line in, a list of verdicts out.
import { answerLines } from "./helpers.ts";
import { grade, type Found, type Reasons, type Sealed } from "../../../static/js/app/learn/grade.ts";

type Case = [question: Sealed, given: string, found: Found | null];

await answerLines(({ cases, reasons }: { cases: Case[]; reasons: Reasons }) =>
  cases.map(([question, given, found]) => grade(question, given, reasons, found ?? undefined)),
);
