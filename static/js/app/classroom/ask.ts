// The dialog in which a leader asks: what is right comes from the plan on the screen, so it need not be typed.
import { whyFailed } from "../../data/api.ts";
import { getTasks, textOf } from "../../data/workbench/tasks.ts";
import { h, replace, setText } from "../../ui/dom.ts";
import { selectedPlace } from "../../timeline/explain/selected_place.ts";
import { t } from "../../core/i18n/language.ts";
import { opText } from "../../core/schedule/ops.ts";
import type { Kind } from "../../data/classroom/classroom.ts";
import type { Place } from "./places.ts";
import type { Strip } from "./strip.ts";

type Asked = { kind: Kind; text: string; right?: string | number | null } & Record<string, unknown>;
type Form = { node: HTMLElement; read: () => Asked | string };
type Quantity = { text: string; unit: string; right: () => number | null; tolerance: (right: number) => number };

const LEAST_OPS = 2;
const MOST_OPS = 12;
const USUAL_OPS = 6;

export function createAsk({ place, room, tools, tell }: Strip) {
  const problem = h("p.problem", { role: "alert" });
  const body = h("div.class-form");
  const dialog = h("dialog#class-ask.popup.class-dialog", { "aria-labelledby": "class-ask-title" });
  const forms: [Kind, string, (place: Place, fail: (text: string) => void) => Form][] = [
    ["predict", t("Predict a number"), predictForm],
    ["choose", t("Choose an option"), chooseForm],
    ["order", t("Order ops"), orderForm],
    ["find", t("Find a place"), findForm],
    ["build", t("Build"), buildForm],
  ];
  const kinds = h("select#class-kind", ...forms.map(([kind, title]) => h("option", { value: kind }, title)));
  let form: Form | null = null;
  let asking = false;
  kinds.addEventListener("change", () => openForm());
  dialog.append(
    h("h2#class-ask-title", { text: t("Ask the class") }),
    h("label.class-field", h("span", { text: t("Kind") }), kinds),
    body,
    problem,
    h(
      "div.row.class-ways",
      h("button#class-send-question.button.primary", { onclick: () => void send() }, t("Ask")),
      h("button.button.soft", { onclick: () => dialog.close() }, t("Cancel")),
    ),
  );
  tools.after(dialog);

  function openForm() {
    form = forms.find(([kind]) => kind === kinds.value)?.[2](place, (text) => setText(problem, text)) ?? null;
    if (form) replace(body, form.node);
    setText(problem, "");
  }

  /** A question that is refused stays in the form. */
  async function send() {
    const question = form?.read();
    if (!question || asking) return;
    if (typeof question === "string") return setText(problem, question);
    setText(problem, "");
    asking = true;
    try {
      await room.send("class_ask", { question: { ...question, query: place.now().query } });
      tell("");
      dialog.close();
    } catch (why) {
      setText(problem, whyFailed(why));
    } finally {
      asking = false;
    }
  }

  return {
    open() {
      openForm();
      dialog.showModal();
    },
  };
}

function predictForm({ view }: Place): Form {
  const share = () => view.plans.first.figures?.bubble.global.ofTotal ?? null;
  const quantities: Quantity[] = [
    {
      text: t("Which part of the step do the ranks wait?"),
      unit: "%",
      right: () => scaled(share(), 100),
      tolerance: () => 1,
    },
    {
      text: t("How long does the step take?"),
      unit: "",
      right: () => scaled(view.plans.first.figures?.makespan ?? null, 1),
      tolerance: (right) => right / 50,
    },
    {
      text: t("How many micro-batches does the fullest rank hold at most?"),
      unit: "",
      right: () => scaled(view.plans.first.memory, 1),
      tolerance: (right) => right / 50,
    },
  ];
  const names = [t("bubble"), t("step time"), t("peak memory"), t("a number of your own")];
  const choice = h("select", ...names.map((name, at) => h("option", { value: at }, name)));
  const text = textBox();
  const right = h("input", { type: "text", inputmode: "decimal", autocomplete: "off" });
  const unit = h("input", { type: "text", maxlength: 12, autocomplete: "off" });
  function take() {
    const quantity = quantities[Number(choice.value)];
    text.value = quantity?.text ?? "";
    unit.value = quantity?.unit ?? "";
    const value = quantity?.right() ?? null;
    right.value = value === null ? "" : String(value);
  }
  choice.addEventListener("change", take);
  take();
  const node = fields(
    [t("Quantity"), choice],
    [t("Question"), text],
    [t("Right (students see it when you reveal it)"), right],
    [t("Unit"), unit],
  );
  return {
    node,
    read() {
      const given = right.value.trim().replace(",", ".");
      const value = given ? Number(given) : null;
      if (value !== null && !Number.isFinite(value)) return t("What is right must be a number.");
      const quantity = quantities[Number(choice.value)];
      const tolerance = value === null || !quantity ? 0 : Math.abs(quantity.tolerance(value));
      return checked({ kind: "predict", text: text.value, right: value, unit: unit.value.trim(), tolerance });
    },
  };
}

function chooseForm(): Form {
  const text = textBox();
  const options = h("textarea", { rows: 4, placeholder: t("*1F1B\nGPipe") });
  const node = fields([t("Question"), text], [t("Options, one a line; the right one begins with *"), options]);
  return {
    node,
    read() {
      const lines = options.value.split("\n").flatMap((line) => line.trim() || []);
      const right = lines.findIndex((line) => line.startsWith("*"));
      const texts = lines.map((line) => line.replace(/^\*\s*/, ""));
      if (texts.length < 2 || texts.length > 8) return t("Write two to eight options, one a line.");
      return checked({ kind: "choose", text: text.value, options: texts, right: right < 0 ? null : String(right) });
    },
  };
}

function orderForm({ view }: Place): Form {
  const { schedule } = view.plans.first;
  const p = schedule?.p ?? 1;
  const rank = h("input", { type: "number", min: 0, max: p - 1, value: 0 });
  const count = h("input", { type: "number", min: LEAST_OPS, max: MOST_OPS, value: USUAL_OPS });
  const text = textBox();
  const write = () => (text.value = t("In which order does rank {rank} execute these?", { rank: rank.value }));
  rank.addEventListener("input", write);
  write();
  const node = fields([t("Rank"), rank], [t("Its first ops"), count], [t("Question"), text]);
  return {
    node,
    read() {
      const [r, n] = [Number(rank.value), Number(count.value)];
      if (!schedule || !Number.isInteger(r) || r < 0 || r >= p) return t("This schedule has no such rank.");
      const [from, end] = [schedule.offsets[r], schedule.offsets[r + 1]];
      if (!(n >= LEAST_OPS && n <= MOST_OPS)) return t("Ask for 2 to 12 ops.");
      const ops = Array.from({ length: Math.min(n, end - from) }, (_, k) => opText(schedule, from + k));
      return checked({ kind: "order", text: text.value, ops, right: ops.join(" ") });
    },
  };
}

function findForm({ view }: Place): Form {
  const trace = view.selection.current();
  const found = selectedPlace(trace);
  const wait = trace?.idle ? `${trace.rank}@${round(trace.idle.from)}-${round(trace.idle.to)}` : null;
  const text = textBox(t("Where on the timeline is the longest wait?"));
  const said = found
    ? t("Right: {what}.", { what: found.text })
    : t("Nothing is selected on the timeline: the answers are shown without one that is right.");
  return {
    node: h("div.class-form", fields([t("Question"), text]), h("p.muted", { text: said })),
    read: () => checked({ kind: "find", text: text.value, right: wait ?? found?.answer ?? null }),
  };
}

function buildForm(_: Place, fail: (text: string) => void): Form {
  const choice = h("select#class-task");
  const text = textBox();
  void getTasks().then(
    ({ tasks }) =>
      replace(
        choice,
        ...tasks.map(({ slug, number, title }) => h("option", { value: slug }, `${number} · ${textOf(title)}`)),
      ),
    () => fail(t("The server does not answer.")),
  );
  return {
    node: fields([t("Task of the workbench"), choice], [t("What to say about it (if you like)"), text]),
    read: () => (choice.value ? { kind: "build", text: text.value.trim(), task: choice.value } : t("Choose a task.")),
  };
}

const textBox = (value = "") => {
  const box = h("textarea", { rows: 2, maxlength: 400 });
  box.value = value;
  return box;
};

const fields = (...rows: [string, HTMLElement][]) =>
  h("div.class-form", ...rows.map(([name, box]) => h("label.class-field", h("span", { text: name }), box)));

const checked = (question: Asked) => (question.text.trim() ? question : t("Write the question first."));

const scaled = (value: number | null, by: number) => (value === null ? null : Number((by * value).toPrecision(4)));

const round = (time: number) => Number(time.toFixed(6));
