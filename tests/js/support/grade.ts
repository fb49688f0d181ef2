// Grades answers for tests/lessons/test_grade.py: {"cases": [[question, given, found], ...], "reasons": {code:
// template}} in, a list of verdicts out.
import { readFileSync } from "node:fs";
import { grade, type Found, type Reasons, type Sealed } from "../../../static/js/app/learn/grade.ts";

type Case = [question: Sealed, given: string, found: Found | null];
const { cases, reasons }: { cases: Case[]; reasons: Reasons } = JSON.parse(readFileSync(0, "utf8"));
const verdicts = cases.map(([question, given, found]) => grade(question, given, reasons, found ?? undefined));
console.log(JSON.stringify(verdicts));
