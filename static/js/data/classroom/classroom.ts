// A class as a page of it sees it: entered over the socket, again after every lost connection, and kept up to date.
// docs/teaching/classes.md describes the messages.
import { connect } from "../runs/client.ts";
import { Refusal } from "../api.ts";
import { t } from "../../core/i18n/language.ts";
import type { Part } from "./class_of_tab.ts";
import type { SpecError } from "../../core/schedule/types.ts";
import type { Socket } from "socket.io-client";

export type Kind = "predict" | "choose" | "order" | "find" | "build";
/** An answer, and how many gave it. */
export type Count = [answer: string, count: number];
/** source: what said so. */
export type Revealed = {
  right: string | null;
  source: "leader" | "simulation" | "run";
  note: string;
  tally: Count[];
  answered: number;
};
export type Question = {
  number: number;
  round: number;
  kind: Kind;
  text: string;
  options: string[];
  ops: string[];
  unit: string;
  tolerance: number;
  task: string; // of the workbench
  query: string; // of the view that it is about
  open: boolean;
  revealed: Revealed | null;
  right?: string | null; // for leaders alone
};
export type ClassState = {
  title: string;
  follow: boolean; // false: students may roam
  paused: boolean;
  locked: boolean; // nobody can join
  pace: [first: number, last: number] | null; // steps of a lesson
  expires: number; // seconds since 1970
  here: number; // students whose page is open
  question: Question | null;
};
/** What the leader's page shows. place: the anchor of a lesson's step, or "". */
export type Scene = { seq: number; page: string; query: string; place: string };
export type ItemState = "working" | "stuck" | "wrong" | "done";
export type Student = {
  number: number;
  name: string | null;
  here: boolean;
  view: { page: string; query: string } | null;
  items: Record<string, ItemState>; // docs/teaching/classes.md, "Items and their states"
};
export type Tally = { question: number; round: number; answered: number; counts: Count[] };

type Entered = {
  leads: boolean;
  number: number | null;
  name: string | null;
  state: ClassState;
  scene: Scene | null;
  answers: Record<string, string>; // own ones, by "question.round"
};
type Told = { code: string; state?: ClassState; scene?: Scene; over?: true };
type Room = { code: string; members: (Student & { gone?: true })[]; tally: Tally | null; here: number };
type What = "state" | "scene" | "room" | "line" | "over";

const REST_MS = 1000; // until what a student's page shows is reported
const LONGEST_MS = 5000; // of changes without such a rest, as while it plays

export class Classroom {
  code: string;
  part: Part;
  scene: Scene | null = null;
  /** Own answers, by "question.round". */
  answers: Record<string, string> = {};
  number: number | null = null;
  name: string | null = null;
  students = new Map<number, Student>();
  tally: Tally | null = null;
  /** Whether the server is connected, and has let this page in. */
  inside = false;
  over = false;
  /** Why the page is not let in. */
  refusal: Refusal | null = null;

  #state: ClassState | null = null;
  #asked: Partial<ClassState>[] = []; // settings that the server has not acknowledged yet
  #listeners: ((what: What) => void)[] = [];
  #line: Socket | null = null;
  #shown: { page: string; query: string } | null = null;
  #reported = { text: "", timer: 0, since: 0 };
  #items: Record<string, ItemState> = {};

  constructor(code: string, part: Part) {
    this.code = code;
    this.part = part;
  }

  /** The settings of the class, those included that are asked for and not acknowledged yet. */
  get state(): ClassState | null {
    return this.#state && Object.assign({}, this.#state, ...this.#asked);
  }

  onChange(task: (what: What) => void) {
    this.#listeners.push(task);
  }

  /** Enter the class, now and whenever the connection is back. */
  async enter() {
    const line = await connect();
    this.#line = line;
    line.on("class", (told: Told) => this.#take(told));
    line.on("class_room", (room: Room) => this.#takeRoom(room));
    line.on("connect", () => void this.#enter());
    for (const name of ["disconnect", "connect_error"])
      line.on(name, () => {
        this.inside = false;
        this.#notify("line");
      });
    if (line.connected) await this.#enter();
  }

  /** Send an event of this class. Throws a Refusal; one that is sent while the line is away waits for it. */
  async send(event: string, payload: Record<string, unknown> = {}): Promise<any> {
    const line = this.#line ?? (await connect());
    const answer = await line.emitWithAck(event, { code: this.code, ...payload });
    if (answer?.error) throw new Refusal(answer.error as SpecError, 400);
    return answer;
  }

  /** Change settings. They show at once, and a state that the server sent before it heard of them undoes none. */
  async set(change: Partial<ClassState>) {
    this.#asked.push(change);
    this.#notify("state");
    try {
      this.#state = (await this.send("class_set", change)).state;
    } finally {
      this.#asked = this.#asked.filter((each) => each !== change);
      this.#notify("state");
    }
  }

  /** Show all who follow what this page shows; only the newest counts, so nothing waits for the answer. */
  lead(scene: Omit<Scene, "seq">) {
    if (this.#line?.connected && this.inside) this.#line.emit("class_scene", { code: this.code, scene });
  }

  async answer(question: Question, answer: string) {
    const { answer: kept } = await this.send("class_answer", {
      question: question.number,
      round: question.round,
      answer,
    });
    this.answers[`${question.number}.${question.round}`] = kept;
    this.#notify("state");
  }

  /** The own answer to a question's present round, "" for none. */
  answered({ number, round }: Question) {
    return this.answers[`${number}.${round}`] ?? "";
  }

  /** Report how far an item is, once for each state. */
  report(item: string, state: ItemState) {
    if (this.#items[item] === state) return;
    this.#items[item] = state;
    if (this.inside) void this.send("class_work", { item, state }).catch(() => {});
  }

  /** Report what this page shows, once it rests, and now and then while it does not. */
  showed(page: string, query: string) {
    if (this.#shown?.page === page && this.#shown.query === query) return;
    this.#shown = { page, query };
    this.#reportSoon();
  }

  #reportSoon() {
    const [report, now] = [this.#reported, performance.now()];
    if (!report.timer) report.since = now;
    clearTimeout(report.timer);
    const left = Math.max(0, report.since + LONGEST_MS - now);
    report.timer = window.setTimeout(() => this.#report(), Math.min(REST_MS, left));
  }

  #report() {
    const [view, text] = [this.#shown, JSON.stringify(this.#shown)];
    this.#reported.timer = 0;
    if (!view || !this.inside || text === this.#reported.text) return;
    this.#reported.text = text;
    void this.send("class_work", { view }).catch(() => {});
  }

  async #enter() {
    try {
      const entered: Entered = await this.send("class_enter", { as: this.part });
      this.#state = entered.state;
      this.answers = entered.answers;
      this.number = entered.number;
      this.name = entered.name;
      if (entered.scene && (this.scene?.seq ?? 0) < entered.scene.seq) this.scene = entered.scene;
      this.students.clear(); // leaders are sent all of them next
      this.inside = true;
      this.refusal = null;
      this.#reported.text = ""; // what was shown and done while the line was away
      if (this.#shown) this.#reportSoon();
      for (const [item, state] of Object.entries(this.#items))
        void this.send("class_work", { item, state }).catch(() => {});
      this.#notify("line");
      this.#notify("state");
      if (!entered.leads) this.#notify("scene"); // a leader's page leads with what it shows itself
    } catch (problem) {
      this.refusal = problem instanceof Refusal ? problem : null;
      this.inside = false;
      this.#notify("line");
    }
  }

  #take({ code, state, scene, over }: Told) {
    if (code !== this.code) return;
    if (over) {
      this.over = true;
      this.inside = false;
      return this.#notify("over");
    }
    if (state) this.#state = state;
    if (scene) this.scene = scene;
    if (state) this.#notify("state");
    if (scene) this.#notify("scene");
  }

  #takeRoom({ code, members, tally, here }: Room) {
    if (code !== this.code) return;
    for (const { gone, ...student } of members)
      if (gone) this.students.delete(student.number);
      else this.students.set(student.number, student);
    this.tally = tally;
    if (this.#state) this.#state = { ...this.#state, here };
    this.#notify("room");
  }

  #notify(what: What) {
    for (const listener of this.#listeners) listener(what);
  }
}

/** What a student is called where names may be seen; else the number, which is given when one joins. */
export const nameOf = ({ number, name }: Pick<Student, "number" | "name">, shown: boolean) =>
  shown && name ? name : t("Student {number}", { number });
