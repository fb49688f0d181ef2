// Judges an answer in a lesson's file, which has no server: as backend/lessons/grade.py does; a test compares both.

/**
 * @typedef {object} Sealed  a question with its answer, as backend/lessons/export.py writes it
 * @property {number} number
 * @property {"predict" | "choose" | "order"} kind
 * @property {number} answer
 * @property {string} unit
 * @property {number} tolerance
 * @property {[string, number][]} others
 * @property {string[]} reasons of the options, as HTML
 * @property {number} right
 * @property {string[]} ops
 * @property {string} explanation
 * @property {Record<string, string> | null} place
 * @property {string} shown
 */
/** @typedef {{right: boolean, reason: string}} Verdict  reason: as HTML */
/** @typedef {Record<string, string>} Reasons  templates by their codes */

const EPSILON = 1e-9;
const NUMBER = /^[+-]?[0-9]{1,12}([.,][0-9]{1,9})?(e[+-]?[0-9]{1,3})?$/;
const GROUPED = /^[0-9]{1,3}(,[0-9]{3})+$/;
const OP = /^([0-9]+)([FIWB])([0-9]+)$/;

/** @param {string} text */
const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/**
 * @param {Reasons} reasons @param {string} name @param {Record<string, string | number>} [values]
 * @returns {Verdict}
 */
function wrong(reasons, name, values = {}) {
  const template = reasons[`lessons.${name}`] ?? "";
  const text = template.replace(/\{(\w+)\}/g, (hole, key) => String(values[key] ?? hole));
  return { right: false, reason: escaped(text) };
}

/** @param {string[]} ops */
const sorted = (ops) => [...ops].sort().join();

const RIGHT = { right: true, reason: "" };

/** @param {Sealed} question @param {string} given @param {Reasons} reasons @returns {Verdict} */
export function judge(question, given, reasons) {
  if (question.kind === "predict") return judgeNumber(question, given, reasons);
  if (question.kind === "choose") return judgeOption(question, given, reasons);
  return judgeOrder(question, given.split(/\s+/).filter(Boolean), reasons);
}

/** @param {Sealed} question @param {string} given @param {Reasons} reasons @returns {Verdict} */
function judgeNumber(question, given, reasons) {
  let text = given.replaceAll("\u00a0", " ").trim();
  for (const end of ["%", question.unit]) if (end && text.endsWith(end)) text = text.slice(0, -end.length);
  text = text.trim();
  if (GROUPED.test(text)) text = text.replaceAll(",", "");
  if (!NUMBER.test(text)) return wrong(reasons, "not_a_number");
  const share = question.unit === "%" ? 100 : 1;
  const number = Number(text.replace(",", "."));
  const value = number / share;
  const near = question.tolerance + EPSILON;
  if (Math.abs(value - question.answer) <= near) return RIGHT;
  for (const [name, other] of question.others)
    if (Math.abs(value - other) <= near)
      return wrong(reasons, "another_value", { given: `${text}\u00a0${question.unit}`.trim(), name });
  if (share > 1 && Math.abs(number - question.answer) <= near) return wrong(reasons, "as_percent");
  return wrong(reasons, value < question.answer ? "too_low" : "too_high", { given: text });
}

/** @param {Sealed} question @param {string} given @param {Reasons} reasons @returns {Verdict} */
function judgeOption(question, given, reasons) {
  if (!/^[0-9]{1,3}$/.test(given) || Number(given) >= question.reasons.length) return wrong(reasons, "choose_one");
  return { right: Number(given) === question.right, reason: question.reasons[Number(given)] };
}

/** @param {Sealed} question @param {string[]} ops @param {Reasons} reasons @returns {Verdict} */
function judgeOrder(question, ops, reasons) {
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
