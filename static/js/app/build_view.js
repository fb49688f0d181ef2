// Wires the workbench: the board on the timeline, the palette under it, and the panels beside it.
import { createAppearance } from "./appearance.js";
import { TimelineView } from "./timeline_view.js";
import { Refusal, getJson } from "../data/api.js";
import { inPairs } from "../data/matched_plan.js";
import { RunsOnScreen } from "../data/runs/runs_on_screen.js";
import { addressOf, fork } from "../data/workbench/address.js";
import { createFarReferences } from "../data/workbench/far_references.js";
import { BoardPlans } from "../data/workbench/board_plans.js";
import { getTask, getTaskBoard, getTasks, openTask, textOf } from "../data/workbench/tasks.js";
import { createBoardLayer } from "../panels/workbench/board.js";
import { createForm } from "../panels/workbench/form.js";
import { createHints } from "../panels/workbench/hint_panel.js";
import { createMoves } from "../panels/workbench/moves.js";
import { createPalette } from "../panels/workbench/palette.js";
import { createRows } from "../panels/workbench/rows.js";
import { createRunPanel } from "../panels/workbench/run_panel.js";
import { createScorePanel } from "../panels/workbench/score_panel.js";
import { createStatePanel } from "../panels/workbench/state_panel.js";
import { createTaskBoard } from "../panels/workbench/task_board.js";
import { createTaskPanel } from "../panels/workbench/task_panel.js";
import { createTable } from "../timeline/table.js";
import { byId } from "../ui/dom.js";
import { invalidate } from "../ui/frame_loop.js";
import { listenKeys } from "../ui/keyboard.js";
import { announce } from "../ui/live_region.js";
import { remember } from "../ui/remembered.js";
import { onRest, restSoon } from "../ui/rest.js";
import { t, tr } from "../core/i18n/language.js";
import { readArea } from "../core/timeline/area.js";
import { specQuery } from "../core/state/link.js";
import { positionOfRows } from "../core/workbench/op_texts.js";
import { scheduleOf } from "../core/workbench/position.js";
import { isOfBoard } from "../core/workbench/references.js";
import { Session } from "../core/workbench/session.js";

/** @import {Started} from "./start.js" */
/** @import {Own} from "../data/workbench/address.js" */
/** @import {Board} from "../core/workbench/position.js" */
/** @import {Binding} from "../ui/keyboard.js" */

export const SAVED = "build"; // what the browser remembers of the board
const NOTICE = 5000; // ms
/** Keys of the timeline that the board needs itself, or for which it has no use. */
const TAKEN = /^(ArrowUp|ArrowDown|ArrowLeft|ArrowRight|Enter|f|F|w|W|s|S|i|I|b|B|z|Z|y|\?)$/;

export class BuildView {
  /** @param {Started} started @param {Own} own @param {import("../core/workbench/position.js").Position} position
   * @param {string} problem of the link */
  constructor({ store, plans }, own, position, problem) {
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
      followed: () => this.moves.followed(),
      title: () => this.moves.title(),
      shown: () => this.board.redraw(),
    });
    this.state = createStatePanel({
      families,
      goTo: ({ rank, index }) => this.#select(scheduleOf(session.position).offsets[rank] + index),
    });
    this.scores = createScorePanel({
      session,
      serverBound: (board) => this.#serverBound(board),
    });
    this.running = createRunPanel({ session, store, runs, mayRun: document.documentElement.dataset.role !== "view" });
    this.rows = createRows(session);
    this.askForReferences = createFarReferences(store.defaults, restSoon);
    const entries = createTaskBoard({ load: getTaskBoard, replay: (rows) => this.#replay(rows) });
    this.task = createTaskPanel({ session, go: (slug) => void this.#openTask(slug), load: getTasks, board: entries });
    this.board = createBoardLayer({
      session,
      timeline: this.timeline,
      ghost: () => this.moves.followed(),
      marked: () => this.state.violations(),
      hinted: () => this.hints.op(),
    });
    this.palette = createPalette({ session, rankAt: (x, y) => this.board.rankAt(x, y) });
    settings.append(this.form.node, this.moves.node);
    side.append(this.task.node, this.state.node, this.scores.node, this.hints.node, this.running.node);
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
    if (own.task) void this.#openTask(own.task, position.count > 0 ? position : null);
  }

  /** Put an entry of a task on the board, as one step that can be undone, and play it. @param {string[]} rows */
  #replay(rows) {
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

  /** @param {import("../core/workbench/session.js").Event} event */
  #onChange({ sentence, refused, moved }) {
    const { session, board } = this;
    announce(sentence);
    if (refused) board.refuse(refused.rank, refused.sentence);
    else board.hideRefusal();
    if (moved) {
      this.plans.show(session.position);
      this.store.set({ spec: session.board.spec, others: [], preset: null, origin: undefined }, "none");
      if (this.store.get().view.area) this.store.setView({ area: null }, "none");
    }
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
    remember(SAVED, query);
  }

  /**
   * Open a task, or leave it. An order of the link is kept where it is one of the task's board.
   * @param {string} slug @param {import("../core/workbench/position.js").Position | null} [given]
   */
  async #openTask(slug, given = null) {
    const { session, own } = this;
    own.task = slug;
    if (!slug) {
      this.task.put(null);
      session.begin(session.position, t("The task is left; its board stays."));
      return;
    }
    try {
      const task = await getTask(slug);
      if (own.task !== slug) return; // another was chosen meanwhile
      const { start } = openTask(task, this.store.defaults);
      session.beginTask(start, task.kinds, task.fixed, textOf(task.title));
      const rows = given && isOfBoard(scheduleOf(given), start.board) ? given.rows : null;
      if (given && rows) session.go({ ...given, board: start.board }, textOf(task.title));
      this.task.put(task);
    } catch (problem) {
      own.task = "";
      this.view.status.toast(problem instanceof Refusal ? tr(problem) : t("The server does not answer."), NOTICE);
    }
  }

  /** @param {string} name */
  #setGhost(name) {
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

  /** @param {number} i */
  #select(i) {
    invalidate("plan");
    const [lane] = this.plans.lanes();
    this.timeline.show(inPairs([lane], this.runs.lanes));
    this.view.goTo(lane, i);
  }

  /** A bound from the server, which also knows the memory limit; 0 where it has none. @param {Board} board */
  async #serverBound(board) {
    const { kind } = board.placement;
    if (kind === "bidirectional") return 0;
    const family = kind === "v" ? "v-auto" : "zb-auto";
    const query = specQuery({ ...board.spec, family, order: null }, this.store.defaults);
    const { lower_bound: value } = await getJson(`/api/bound${query}`);
    return Number(value) || 0;
  }

  /** The keys of the board, and those of the timeline that it leaves. @returns {Binding[]} */
  #keys() {
    const { session } = this;
    const section = t("Build");
    /** @param {string[]} keys @param {string} label @param {string} description @param {() => void} act
     * @param {Partial<Binding>} [more] @returns {Binding} */
    const key = (keys, label, description, act, more = {}) => ({ section, keys, label, description, act, ...more });
    return [
      key(["ArrowUp"], "↑", t("the rank above"), () => session.setRank(session.rank - 1)),
      key(["ArrowDown"], "↓", t("the rank below"), () => session.setRank(session.rank + 1)),
      key(["ArrowLeft"], "←", t("the op before in the palette"), () => session.chooseBy(-1)),
      key(["ArrowRight"], "→", t("the next op in the palette"), () => session.chooseBy(1)),
      ...["F", "I", "W", "B"].map((letter) =>
        key([letter.toLowerCase(), letter], letter, t("choose {kind}; again, its next chunk", { kind: letter }), () =>
          session.chooseKind(letter),
        ),
      ),
      key(["Enter"], "Enter", t("place what is chosen on the rank"), () => session.placePick()),
      key(["Backspace"], "Backspace", t("take back the rank's last op"), () => session.takeBack()),
      key(["z"], "Ctrl Z", t("undo"), () => session.undo(), { ctrl: true }),
      key(["Z", "y"], "Ctrl ⇧ Z", t("redo"), () => session.redo(), { ctrl: true }),
      key(["+", "="], "+", t("zoom in"), () => this.timeline.zoom(1.35)),
      key(["-"], "-", t("zoom out"), () => this.timeline.zoom(1 / 1.35)),
      key(["0"], "0", t("show all"), () => this.timeline.look({ t0: 0, t1: this.timeline.total() })),
      ...this.view.keys().filter((each) => !each.keys.some((name) => TAKEN.test(name) && !each.shift)),
    ];
  }
}
