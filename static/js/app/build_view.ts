// Wires the workbench: the board on the timeline, the palette under it, and the panels beside it.
import { createAppearance } from "./appearance.ts";
import { joinClass } from "./classroom/join_class.ts";
import { exposeForTests } from "./inspection.ts";
import { start as begin } from "./start.ts";
import { TimelineView } from "./timeline_view.ts";
import { getJson, whyFailed } from "../data/api.ts";
import { inPairs } from "../data/matched_plan.ts";
import { RunsOnScreen } from "../data/runs/runs_on_screen.ts";
import {
  addressOf,
  fork,
  openSpec,
  orderSpec,
  plainPosition,
  queryOf,
  splitQuery,
  type Own,
} from "../data/workbench/address.ts";
import { createFarReferences } from "../data/workbench/far_references.ts";
import { BoardPlans } from "../data/workbench/board_plans.ts";
import { isOver } from "../data/runs/client.ts";
import { tellWork } from "../data/classroom/work.ts";
import { MOST_STARS, keepStars, nextTask, onStarsElsewhere, starsKept } from "../data/workbench/progress.ts";
import { getTask, getTaskBoard, getTasks, openTask, textOf, type Task, type Tasks } from "../data/workbench/tasks.ts";
import { createBoardLayer } from "../panels/workbench/board.ts";
import { createCard } from "../panels/workbench/card.ts";
import { createForm } from "../panels/workbench/form.ts";
import { createHints } from "../panels/workbench/hint_panel.ts";
import { createMoves } from "../panels/workbench/moves.ts";
import { createPalette, type Aside } from "../panels/workbench/palette.ts";
import { createRows } from "../panels/workbench/rows.ts";
import { createRunPanel } from "../panels/workbench/run_panel.ts";
import { createScorePanel } from "../panels/workbench/score_panel.ts";
import { createStatePanel } from "../panels/workbench/state_panel.ts";
import { createTaskBoard } from "../panels/workbench/task_board.ts";
import { createTaskMap } from "../panels/workbench/task_map.ts";
import { createTaskPanel } from "../panels/workbench/task_panel.ts";
import { createTable } from "../timeline/table.ts";
import { byId, hasServer } from "../ui/dom.ts";
import { invalidate } from "../ui/frame_loop.ts";
import { binding, listenKeys, type Binding } from "../ui/keyboard.ts";
import { announce } from "../ui/live_region.ts";
import { recall, remember } from "../ui/remembered.ts";
import { onRest, restSoon } from "../ui/rest.ts";
import { t } from "../core/i18n/language.ts";
import { readArea } from "../core/timeline/area.ts";
import { withLookOf } from "../core/state/first_visit.ts";
import { isLinkKey, parse, specQuery } from "../core/state/link.ts";
import { SPEC_FIELDS } from "../core/schedule/spec_tables.ts";
import { isOpen, starsOf } from "../core/workbench/goals.ts";
import { departure, hint, hintTo } from "../core/workbench/hints.ts";
import { positionOfRows } from "../core/workbench/op_texts.ts";
import { emptyPosition, isWhole, scheduleOf, type Board, type Position } from "../core/workbench/position.ts";
import { isOfBoard } from "../core/workbench/references.ts";
import { Session, type Event } from "../core/workbench/session.ts";
import type { Started } from "./start.ts";
import type { Timeline } from "../timeline/timeline.ts";

export const SAVED = "build"; // what the browser remembers of the board
const NOTICE = 5000; // ms
/** Keys of the timeline that the board needs itself, or for which it has no use. */
const TAKEN = /^(ArrowUp|ArrowDown|ArrowLeft|ArrowRight|Enter|f|F|w|W|s|S|i|I|b|B|z|Z|y|\?)$/;

export class BuildView {
  store: Started["store"];
  own: Own;
  session: Session;
  plans: BoardPlans;
  runs: RunsOnScreen;
  view: TimelineView;
  timeline: Timeline;
  playback: TimelineView["playback"];
  form: ReturnType<typeof createForm>;
  moves: ReturnType<typeof createMoves>;
  hints: ReturnType<typeof createHints>;
  state: ReturnType<typeof createStatePanel>;
  scores: ReturnType<typeof createScorePanel>;
  running: ReturnType<typeof createRunPanel>;
  rows: ReturnType<typeof createRows>;
  askForReferences: ReturnType<typeof createFarReferences>;
  task: ReturnType<typeof createTaskPanel>;
  board: ReturnType<typeof createBoardLayer>;
  palette: ReturnType<typeof createPalette>;
  map: ReturnType<typeof createTaskMap>;
  card: ReturnType<typeof createCard>;
  #task: Task | null = null;
  #tasks: Promise<Tasks> | null = null;
  #start: Position | null = null; // of the task
  #won = 0; // stars of this board that the reader has seen
  #watched = ""; // the run that was seen in progress
  #wanted = ""; // the address of another page that is to be shown here
  #following: Promise<void> = Promise.resolve(); // until the one before is shown

  /** problem: of the link; task: the one of the address; given: whether the position is one that a link brings. */
  constructor(
    { store, plans }: Started,
    own: Own,
    position: Position,
    problem: string,
    task: Task | null,
    given: boolean,
  ) {
    this.store = store;
    this.own = own;
    this.session = new Session(position);
    this.session.free = own.free;
    store.set({ spec: position.board.spec, others: [], preset: null, origin: undefined }, "none");
    this.plans = new BoardPlans(store, plans.families, position);
    this.runs = new RunsOnScreen({ store, plans: this.plans });
    this.view = new TimelineView(store, this.plans, {
      showShortcuts: () => {},
      arrange: (planned) => inPairs(planned, this.runs.lanes),
      measured: () => this.runs.headings(),
      measuredTitle: (id) => this.runs.titleOf(id),
      remove: (id) => this.runs.removeLane(id),
    });
    this.timeline = this.view.timeline;
    this.playback = this.view.playback;
    const { session, runs } = this;
    const { families } = this.plans;
    const settings = byId("controls");
    const side = byId("figures");
    this.form = createForm({ session, families, fork: (spec) => fork(spec, store.defaults) });
    this.moves = createMoves({
      session,
      area: () => this.#area(),
      selected: () => this.#selected(),
      select: (i) => this.#select(i),
      setGhost: (name) => this.#setGhost(name),
      tell: (text) => this.view.status.toast(text, NOTICE),
    });
    this.hints = createHints({
      session,
      hint: () => this.#hint(),
      shown: () => this.board.redraw(),
    });
    this.state = createStatePanel({
      session,
      families,
      goTo: ({ rank, index }) => this.#select(scheduleOf(session.position).offsets[rank] + index),
    });
    this.scores = createScorePanel({
      session,
      serverBound: (board) => this.#serverBound(board),
    });
    const mayRun = hasServer && document.documentElement.dataset.role !== "view";
    this.running = createRunPanel({ session, store, runs, mayRun });
    this.rows = createRows(session);
    this.askForReferences = createFarReferences(store.defaults, restSoon);
    const entries = createTaskBoard({ load: getTaskBoard, replay: (rows) => this.#replay(rows) });
    const go = (slug: string) => void this.#openTask(slug);
    this.map = createTaskMap({ load: () => this.#list(), go, present: () => this.own.task });
    const openMap = () => void this.map.open();
    this.task = createTaskPanel({ session, openMap, openCard: () => void this.#openCard(), board: entries });
    this.card = createCard({
      ...{ go, openMap, enter: () => this.task.enter(), run: mayRun ? () => void this.running.run() : null },
      query: ({ task: { slug }, position: solved, executed }) =>
        `${queryOf(store, solved, executed ? ["run"] : [])}&task=${slug}`,
    });
    this.board = createBoardLayer({
      session,
      timeline: this.timeline,
      ghost: () => this.moves.followed()?.position ?? null,
      marked: () => this.state.violations(),
      hinted: () => this.hints.op(),
      look: (rank, op) => this.palette.look(rank, op),
    });
    this.palette = createPalette({
      session,
      rankAt: (x, y) => this.board.rankAt(x, y),
      aside: () => this.#aside(),
      looked: (move) => this.board.show(move),
    });
    settings.append(this.form.node, this.moves.node);
    side.append(this.state.node, this.scores.node, this.running.node);
    byId("stage").prepend(this.task.line);
    this.#keepTaskInSight();
    byId("palette-place").append(this.palette.node);
    byId("rows-place").append(this.rows.node);
    this.#addTable();
    this.session.onChange((event) => this.#onChange(event));
    onRest(() => this.#settle());
    store.subscribe((state, before) => {
      this.moves.showSelected();
      if (state.view !== before.view) this.#writeAddress();
    });
    createAppearance(store);
    listenKeys(this.#keys());
    this.moves.follow(own.ghost);
    if (store.get().view.story === null) store.setView({ story: "0" }, "none"); // the arrows are for the board
    this.view.begin();
    this.runs.sync();
    this.#settle();
    if (problem) this.view.status.toast(problem, NOTICE);
    if (task) this.#begin(task, given ? position : null);
    runs.onChange(() => this.#onRun());
    onStarsElsewhere(() => this.task.sync(session.position));
  }

  /** Where the panels come under the board, the task and its hints are beside it, or above it. */
  #keepTaskInSight() {
    const narrow = matchMedia("(max-width: 1120px)");
    const stand = () => byId(narrow.matches ? "task-place" : "figures").prepend(this.task.node, this.hints.node);
    narrow.addEventListener("change", stand);
    stand();
  }

  /** Put an entry of a task on the board, as one step that can be undone, and play it. */
  #replay(rows: string[]) {
    this.#won = MOST_STARS; // somebody else's
    this.session.go(positionOfRows(this.session.position.board, rows), t("The entry is on the board."));
    this.playback.seek(0);
    this.playback.play();
  }

  /** The schedule as a table, for readers who prefer text. */
  #addTable() {
    const table = createTable(
      () => this.timeline.lanes,
      (id) => this.view.titleOf(id),
      () => this.timeline.visible(),
      () => this.view.tools.pins.current(),
    );
    onRest(() => table.refresh());
  }

  #onChange({ sentence, refused, moved }: Event) {
    const { session, board } = this;
    announce(sentence);
    if (refused) board.refuse(refused.rank, refused.sentence);
    else board.hideRefusal();
    if (moved) {
      this.plans.show(session.position);
      this.store.set({ spec: session.board.spec, others: [], preset: null, origin: undefined }, "none");
      if (this.store.get().view.area) this.store.setView({ area: null }, "none");
    }
    if (moved && this.#task && !session.aim) this.#leaveTask();
    if (moved) this.#reward();
    if (moved && this.own.task) tellWork(`build/${this.own.task}`, () => this.#progress());
    if (moved || this.own.free !== session.free) {
      this.own.free = session.free;
      restSoon();
    }
    board.redraw();
    byId("stage").dataset.rank = String(session.rank);
  }

  /** What may follow a moment later: panels, address, what the browser remembers. */
  #settle() {
    const { position } = this.session;
    this.askForReferences(position.board);
    this.moves.sync();
    this.state.sync(position);
    this.task.sync(position);
    this.scores.sync(position);
    this.running.sync();
    this.rows.sync();
    this.moves.showSelected();
    this.board.redraw();
    this.#writeAddress();
  }

  #writeAddress() {
    const query = addressOf(this.store, this.session.position, this.own);
    const address = `${location.pathname}${query}`;
    if (address !== location.pathname + location.search) history.replaceState(history.state, "", address);
    const isOthers = this.#task !== null && this.#won > 0 && !starsKept(this.#task.slug);
    if (!isOthers) remember(SAVED, query); // somebody else's solution is not opened again by itself
  }

  /** The query of the board as it is. */
  address() {
    return addressOf(this.store, this.session.position, this.own);
  }

  /** The order on the board, packed; null where it is not complete. */
  wholeOrder() {
    const { position } = this.session;
    return isWhole(position) ? orderSpec(position).order : null;
  }

  /** Show the board of another page's address, with its task: one after the other, and of those that wait the last. */
  follow(query: string) {
    this.#wanted = query;
    const next = () => (this.#wanted === query ? this.#show(query) : undefined);
    this.#following = this.#following.then(next, next);
    return this.#following;
  }

  async #show(query: string) {
    const { query: rest, own } = splitQuery(query);
    const { state } = parse(rest, this.store.defaults, {});
    if (own.task !== this.own.task) await this.#openTask(own.task);
    const { position } = await openSpec(state.spec, this.store.defaults);
    const { board } = this.session;
    this.#won = MOST_STARS; // somebody else's
    if (own.task && isOfBoard(scheduleOf(position), board)) this.session.go({ ...position, board }, "");
    else this.session.begin(position, "");
  }

  /** Open a task; "" is an empty board of one's own. */
  async #openTask(slug: string) {
    const { session, own } = this;
    own.task = slug;
    if (!slug) {
      session.begin(emptyPosition(session.board), t("The board is empty."));
      return;
    }
    try {
      const task = await getTask(slug);
      if (own.task === slug) this.#begin(task, null); // no other was chosen meanwhile
    } catch (problem) {
      own.task = this.#task?.slug ?? "";
      this.view.status.toast(whyFailed(problem), NOTICE);
    }
  }

  /** Begin a task. An order of the link is kept where it is one of the task's board; solved, it shows its card. */
  #begin(task: Task, given: Position | null) {
    const { session } = this;
    const { start, aim } = openTask(task, this.store.defaults);
    [this.#task, this.#start, this.#won] = [task, null, MOST_STARS]; // what a link brings earns nothing
    this.own.task = task.slug;
    session.beginTask(start, aim, task.fixed, textOf(task.title));
    if (!given) {
      this.moves.follow(""); // an order of the board before would lead away from the goals
      this.store.setView({ run: null }, "none"); // it is of the board before
    } else if (isOfBoard(scheduleOf(given), start.board))
      session.go({ ...given, board: start.board }, textOf(task.title));
    [this.#start, this.#won] = [start, starsOf(aim, session.position)];
    this.task.put(task);
    if (this.#won && !starsKept(task.slug)) void this.#openCard();
  }

  /** Sizes, costs or an order of another board were chosen: it is no longer the task. */
  #leaveTask() {
    [this.#task, this.#start, this.own.task] = [null, null, ""];
    this.task.put(null);
  }

  #list() {
    this.#tasks ??= getTasks();
    this.#tasks.catch(() => (this.#tasks = null)); // asked again
    return this.#tasks;
  }

  /** How far the task is, for a class; null before anything was placed. */
  #progress() {
    const { aim, position } = this.session;
    if (!aim || !this.#start || position.count <= this.#start.count) return null;
    if (starsOf(aim, position)) return "done";
    if (isWhole(position)) return "wrong";
    return isOpen(aim, position) ? "working" : "stuck";
  }

  /** Keep the stars of a solution that was built here, and show its card. */
  #reward() {
    const { aim, position } = this.session;
    if (!aim || !this.#task || this.#won === MOST_STARS) return this.#restart();
    const stars = starsOf(aim, position);
    if (stars <= this.#won) return this.#restart();
    this.#won = stars;
    keepStars(this.#task.slug, stars);
    void this.#openCard();
  }

  /** From the start again, what is built is one's own. */
  #restart() {
    if (this.#start && this.session.position.count <= this.#start.count) this.#won = 0;
  }

  async #openCard() {
    const task = this.#task;
    const { aim, position } = this.session;
    if (!task || !aim) return;
    const { tasks } = await this.#list().catch(() => ({ tasks: [] }));
    if (position !== this.session.position) return;
    const own = starsKept(task.slug) > 0;
    this.card.open({ task, aim, position, own, executed: this.#isExecuted(), next: nextTask(tasks, task.slug) });
  }

  /** Whether the run on the screen has verified this order. */
  #isExecuted() {
    const { run } = this.runs;
    return run?.verified === true && run.spec.order === orderSpec(this.session.position).order;
  }

  /** Once a run that was started here has verified a solution, its card says so. */
  #onRun() {
    const { run } = this.runs;
    if (!run) return;
    if (!isOver(run)) this.#watched = run.id;
    const { aim, position } = this.session;
    if (!isOver(run) || this.#watched !== run.id || !aim || !starsOf(aim, position) || !this.#isExecuted()) return;
    this.#watched = "";
    void this.#openCard();
  }

  /** Why a task's goals are out of reach, and the way back; null in a task that begins there. */
  #aside(): Aside | null {
    const { session } = this;
    const { aim, position } = session;
    const start = this.#start;
    if (!aim || !start || position.count <= start.count || starsOf(aim, position)) return null;
    if (!isOpen(aim, start) || departure(aim, start)) return null;
    const left = departure(aim, position);
    if (left)
      return {
        text: left.sentences.join(t(" ")),
        label: t("Take it back"),
        act: () => void session.takeBack(left.rank, left.aside ?? 0),
      };
    if (isOpen(aim, position)) return null;
    return {
      text: isWhole(position) ? t("The order is complete, but misses a goal.") : t("A goal can no longer be met."),
      label: t("Go back to where it could"),
      act: () => session.goBack(),
    };
  }

  /** To the goals of a task; else along the order that is followed, or by list scheduling. */
  #hint() {
    const { aim, position, backward } = this.session;
    return aim ? hintTo(aim, position) : hint(position, this.moves.followed(), backward ?? undefined);
  }

  #setGhost(name: string) {
    this.own.ghost = name;
    this.hints.reset();
    this.board.redraw();
    this.#writeAddress();
  }

  /** The selected area, if it is of the board. */
  #area() {
    const text = this.store.get().view.area;
    const area = text ? readArea(text) : null;
    if (!area || area.from.lane !== "a" || area.to.lane !== "a") return null;
    const [first, last] = [area.from.rank, area.to.rank].sort((a, b) => a - b);
    return { t0: area.t0, t1: area.t1, first, last };
  }

  /** The flat index of the selected op; -1 for none. */
  #selected() {
    const trace = this.view.selection.current();
    return trace?.op && trace.lane.id === "a" ? trace.op.i : -1;
  }

  #select(i: number) {
    invalidate("plan");
    const [lane] = this.plans.lanes();
    this.timeline.show(inPairs([lane], this.runs.lanes));
    this.view.goTo(lane, i);
  }

  /** A bound from the server, which also knows the memory limit; 0 where it has none. */
  async #serverBound(board: Board) {
    const { kind } = board.placement;
    if (kind === "bidirectional" || board.costs.sized) return 0; // which knows the order of entry
    const family = kind === "v" ? "v-auto" : "zb-auto";
    const query = specQuery({ ...board.spec, family, order: null }, this.store.defaults);
    const { lower_bound: value } = await getJson(`/api/bound${query}`);
    return Number(value) || 0;
  }

  /** The keys of the board, and those of the timeline that it leaves. */
  #keys(): Binding[] {
    const { session } = this;
    const section = t("Build");
    return [
      binding(section, ["ArrowUp"], "↑", t("the rank above"), () => session.setRank(session.rank - 1)),
      binding(section, ["ArrowDown"], "↓", t("the rank below"), () => session.setRank(session.rank + 1)),
      binding(section, ["ArrowLeft"], "←", t("the op before in the palette"), () => session.chooseBy(-1)),
      binding(section, ["ArrowRight"], "→", t("the next op in the palette"), () => session.chooseBy(1)),
      ...["F", "I", "W", "B"].map((letter) =>
        binding(
          section,
          [letter.toLowerCase(), letter],
          letter,
          t("choose {kind}; again, its next chunk", { kind: letter }),
          () => session.chooseKind(letter),
        ),
      ),
      binding(section, ["Enter"], "Enter", t("place what is chosen on the rank"), () => session.placePick()),
      binding(section, ["Backspace"], "Backspace", t("take back the rank's last op"), () => session.takeBack()),
      binding(section, ["z"], "Ctrl Z", t("undo"), () => session.undo(), { ctrl: true }),
      binding(section, ["Z", "y"], "Ctrl ⇧ Z", t("redo"), () => session.redo(), { ctrl: true }),
      binding(section, ["+", "="], "+", t("zoom in"), () => this.timeline.zoom(1.35)),
      binding(section, ["-"], "-", t("zoom out"), () => this.timeline.zoom(1 / 1.35)),
      binding(section, ["0"], "0", t("show all"), () => this.timeline.look({ t0: 0, t1: this.timeline.total() })),
      ...this.view.keys().filter((each) => !each.keys.some((name) => TAKEN.test(name) && !each.shift)),
    ];
  }
}

/** Whether a query names a schedule, not only a look. */
const namesOrder = (query: string) =>
  [...new URLSearchParams(query).keys()].some((key) => key === "z" || (SPEC_FIELDS.includes(key) && isLinkKey(key)));

/**
 * Start the workbench: with the order or the task of its address; else with the board that this browser had last, if it
 * is not a solved task; else with the first task that is not solved.
 */
export async function startBuild() {
  const given = splitQuery(location.search);
  const saved = splitQuery(recall(SAVED) ?? "");
  const isAsked = namesOrder(given.query) || given.own.task !== "";
  const isKept = !isAsked && namesOrder(saved.query) && !starsKept(saved.own.task);
  const { query, own } = isKept ? { ...saved, query: withLookOf(saved.query, given.query) } : given;
  const listed = isAsked || own.task ? null : firstUnsolved(); // while the rest is loaded
  const started = await begin(query || "?");
  if (!started) {
    byId("task-place").append(" "); // the page, which says why, is painted once this is not empty
    return;
  }
  const { defaults } = started.store;
  let { position, problem } = namesOrder(query)
    ? await openSpec(started.store.get().spec, defaults)
    : { position: plainPosition(defaults), problem: "" };
  const wanted = own.task || (position.count > 0 ? "" : ((await listed) ?? ""));
  let task: Task | null = null;
  try {
    if (wanted) task = await getTask(wanted);
  } catch (error) {
    problem ||= whyFailed(error);
  }
  own.task = task?.slug ?? "";
  const isGiven = namesOrder(query) && position.count > 0;
  if (task && !isGiven) position = openTask(task, defaults).start;
  const page = new BuildView(started, own, position, problem, task, isGiven);
  exposeForTests(page);
  void joinClass(async () => (await import("./classroom/places.ts")).buildPlace(page));
}

/** "" where the server does not answer, or all are solved. */
const firstUnsolved = async () => nextTask((await getTasks().catch(() => ({ tasks: [] }))).tasks)?.slug ?? "";
