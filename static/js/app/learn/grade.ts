// Grades an answer in a lesson's file, which has no server, as backend/lessons/questions/grade.py does; a test compares
// both.

/** A question with its answer, as backend/lessons/export.py writes it. */
export type Sealed = {
  number: number;
  kind: "predict" | "choose" | "order" | "reach" | "find";
  answer: number;
  unit: string;
  tolerance: number;
  others: [string, number][];
  reasons: string[]; // of the options, as HTML
  right: number;
  ops: string[];
  explanation: string;
  place: Record<string, string> | null; // attributes of the component
  view: string | null; // the same as a query of the page
  shown: string;
  goals: (Goal & { name: string; percent: boolean })[];
  sizes: string[];
  spots: { op: string; rank: number; begin: number; end: number }[];
};
export type Goal = { quantity: "bubble" | "makespan" | "peak"; comparison: "<" | "<=" | ">" | ">="; bound: number };
/** The figures of the sizes that are given. */
export type Found = Record<Goal["quantity"], number>;
/** reason: as HTML. counted: false for what cannot be read as one, which is no try. */
type Verdict = { right: boolean; reason: string; counted: boolean };
/** Templates by their codes. */
export type Reasons = Record<string, string>;
export type Key = { questions: Sealed[]; reasons: Reasons };

export const TRIES = 2;
const EPSILON = 1e-9;
const NUMBER = /^[+-]?[0-9]{1,12}([.,][0-9]{1,9})?(e[+-]?[0-9]{1,3})?$/;
const FRACTION = /^([0-9]{1,9}) ?[/⁄] ?([0-9]{0,8}[1-9][0-9]{0,8})$/;
const GROUPED = /^[0-9]{1,3}(,[0-9]{3})+$/;
const UNREADABLE = ["not_a_number", "choose_one", "all_ops_once", "set_sizes", "select_first"];
const SIZES = /^[pmv]=[0-9]{1,4}( [pmv]=[0-9]{1,4})*$/;
const WAIT = /^([0-9]{1,4})@([0-9]{1,9}(\.[0-9]{1,12})?)$/;
const PLACE = /^[0-9FIWBST();]{3,40}$/;
const OP = /^([0-9]+)([FIWB])([0-9]+)$/;

const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

function wrong(reasons: Reasons, name: string, values: Record<string, string | number> = {}): Verdict {
  const template = reasons[`lessons.${name}`] ?? "";
  const text = template.replace(/\{(\w+)\}/g, (hole, key) => String(values[key] ?? hole));
  return { right: false, reason: escaped(text), counted: !UNREADABLE.includes(name) };
}

const sorted = (ops: string[]) => [...ops].sort().join();

const RIGHT = { right: true, reason: "", counted: true };

/** Whether a value reaches a goal. */
export function isMet({ comparison, bound }: Goal, value: number) {
  if (comparison === "<") return value < bound - EPSILON;
  if (comparison === "<=") return value <= bound + EPSILON;
  return comparison === ">" ? value > bound + EPSILON : value >= bound - EPSILON;
}

/** found: for a question with goals. */
export function grade(question: Sealed, given: string, reasons: Reasons, found?: Found): Verdict {
  if (question.kind === "predict") return gradeNumber(question, given, reasons);
  if (question.kind === "choose") return gradeOption(question, given, reasons);
  if (question.kind === "reach") return gradeSizes(question, given, reasons, found);
  if (question.kind === "find") return gradePlace(question, given, reasons);
  return gradeOrder(question, given.split(/\s+/).filter(Boolean), reasons);
}

/** A question that is over has its answer as well. */
export function gradeTry(question: Sealed, given: string, tries: number, reasons: Reasons, found?: Found) {
  const verdict = grade(question, given, reasons, found);
  if (!verdict.right && (tries < TRIES || !verdict.counted)) return verdict;
  const { explanation, shown, kind, right, spots } = question;
  const spot = spots.length ? spots[0].op || `${spots[0].rank}@${(spots[0].begin + spots[0].end) / 2}` : null;
  return { ...verdict, explanation, answer: shown, option: kind === "choose" ? right : null, spot };
}

function gradeSizes({ goals, sizes }: Sealed, given: string, reasons: Reasons, found?: Found): Verdict {
  const pairs = SIZES.test(given) ? given.split(" ").map((pair) => pair.split("=")) : [];
  if (!found || sorted(pairs.map(([size]) => size)) !== sorted(sizes)) return wrong(reasons, "set_sizes");
  if (goals.every((goal) => isMet(goal, found[goal.quantity]))) return RIGHT;
  const shown = pairs.map(([size, value]) => `${size} = ${Number(value)}`).join(", ");
  const values = goals.map(({ name, quantity, percent }) => {
    const value = found[quantity];
    return `${name} ${percent ? `${(100 * value).toFixed(1)}\u00a0%` : plain(value)}`;
  });
  return wrong(reasons, "not_reached", { sizes: shown, found: values.join(reasons.between ?? ", ") });
}

const UNSAID = {
  ...{ unit: "", tolerance: 0, place: null, view: null, right: -1 },
  ...{ others: [], reasons: [], ops: [], goals: [], sizes: [], spots: [] },
};

/** The answers of a lesson, from the base64 that they come in. */
export function opened(sealed: string): Key {
  const key = JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(sealed), (char) => char.charCodeAt(0))));
  return { ...key, questions: key.questions.map((question: object) => ({ ...UNSAID, ...question })) };
}

/** A number as the server writes it in a lesson. */
function plain(value: number) {
  if (value !== Math.round(value) && Math.abs(value) < 1000) return String(Number(value.toPrecision(4)));
  const text = value === Math.round(value) ? String(value) : value.toFixed(1);
  return text.replace(/^\d+/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ","));
}

function gradePlace({ spots }: Sealed, given: string, reasons: Reasons): Verdict {
  const wait = WAIT.exec(given);
  if (!wait && !PLACE.test(given)) return wrong(reasons, "select_first");
  const isThere = ({ op, rank, begin, end }: Sealed["spots"][number]) =>
    wait ? !op && Number(wait[1]) === rank && begin < Number(wait[2]) && Number(wait[2]) < end : op === given;
  if (spots.some(isThere)) return RIGHT;
  const wantsOp = spots[0].op !== "";
  if (wait) return wrong(reasons, wantsOp ? "not_an_op" : "another_wait");
  return wrong(reasons, wantsOp ? "another_op" : "not_a_wait", { op: given });
}

function gradeNumber(question: Sealed, given: string, reasons: Reasons): Verdict {
  const whole = given.replaceAll("\u00a0", " ").trim();
  let text = whole;
  for (const end of ["%", question.unit]) if (end && text.endsWith(end)) text = text.slice(0, -end.length);
  text = text.trim();
  if (GROUPED.test(text)) text = text.replaceAll(",", "");
  const fraction = FRACTION.exec(text);
  if (!fraction && !NUMBER.test(text)) return wrong(reasons, "not_a_number");
  const number = fraction ? Number(fraction[1]) / Number(fraction[2]) : Number(text.replace(",", "."));
  const isNear = (value: number, other: number) => Math.abs(value - other) <= question.tolerance + EPSILON;
  const isShare = question.unit === "%" && !whole.endsWith("%") && (fraction !== null || Math.abs(number) < 1);
  const value = isShare || question.unit !== "%" ? number : number / 100;
  if (isNear(value, question.answer) || (isShare && isNear(number / 100, question.answer))) return RIGHT;
  for (const [name, other] of question.others)
    if (isNear(value, other))
      return wrong(reasons, "another_value", { given: isShare ? text : `${text}\u00a0${question.unit}`.trim(), name });
  return wrong(reasons, value < question.answer ? "too_low" : "too_high", { given: text });
}

function gradeOption(question: Sealed, given: string, reasons: Reasons): Verdict {
  if (!/^[0-9]{1,3}$/.test(given) || Number(given) >= question.reasons.length) return wrong(reasons, "choose_one");
  return { right: Number(given) === question.right, reason: question.reasons[Number(given)], counted: true };
}

function gradeOrder(question: Sealed, ops: string[], reasons: Reasons): Verdict {
  if (sorted(ops) !== sorted(question.ops)) return wrong(reasons, "all_ops_once");
  if (ops.join() === question.ops.join()) return RIGHT;
  const done = new Set();
  for (const op of ops) {
    const found = OP.exec(op);
    const before = found && found[2] !== "F" ? `${found[1]}F${found[3]}` : "";
    if (question.ops.includes(before) && !done.has(before)) return wrong(reasons, "gradient_first", { op, before });
    done.add(op);
  }
  const same = ops.findIndex((op, at) => op !== question.ops[at]);
  return wrong(reasons, "right_up_to", { count: same, wrong: same + 1 });
}
