// Grades answers for tests/lessons/test_grade.py: {"cases": [[question, given], ...], "reasons": {code: template}} in,
// a list of verdicts out.
import { readFileSync } from "node:fs";
import { grade, type Reasons, type Sealed } from "../../../static/js/app/learn/grade.ts";

const { cases, reasons }: { cases: [Sealed, string][]; reasons: Reasons } = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(cases.map(([question, given]) => grade(question, given, reasons))));
