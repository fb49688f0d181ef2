// The card of a solved task: the order's picture, stars, what it has achieved, where to go on, and its link, which
// unfurls with the same picture.
import { MOST_STARS } from "../../data/workbench/progress.ts";
import { textOf, type Listed, type Task } from "../../data/workbench/tasks.ts";
import { t } from "../../core/i18n/language.ts";
import { formatNumber as num } from "../../core/i18n/numbers.ts";
import { awardPicture, HEIGHT, ROOM, WIDTH } from "../../core/drawing/award_picture.ts";
import { picture } from "../../core/drawing/picture.ts";
import { achieved, starsOf, type Aim } from "../../core/workbench/goals.ts";
import { scheduleOf, shownSchedule, timesOf, type Position } from "../../core/workbench/position.ts";
import { scoreOf } from "../../core/workbench/score.ts";
import { h, hasServer, replace, setText, show } from "../../ui/dom.ts";
import { linkRow } from "../../ui/fields/link_row.ts";
import { pictureColours } from "../../ui/palette.ts";
import { savePng } from "../../ui/save_file.ts";
import { starsNode } from "./task_map.ts";

/** own: built here, not brought by a link or a replay; executed: a run has verified the order. */
export type Solved = { task: Task; aim: Aim; position: Position; own: boolean; executed: boolean; next: Listed | null };
type Parts = {
  query: (solved: Solved) => string; // of the link
  go: (slug: string) => void;
  openMap: () => void;
  enter: () => void; // goes to the entry on the leaderboard
  run: (() => void) | null; // null for a reader who may not
};

const [WIDEST, MARGIN] = [600, 32]; // px of the picture in the card
const [TALLEST, HIGHEST] = [44, 240]; // px of a row, and of all

export function createCard({ query, go, openMap, enter, run }: Parts) {
  const title = h("h2#card-title");
  const stars = h("p.card-stars");
  const drawn = h("div.card-picture");
  const claim = h("p#card-claim.card-claim");
  const facts = h("p.muted");
  const more = h("p#card-more.fine");
  const status = h("p.share-status", { role: "status" });
  const link = linkRow("card-link", t("Link to this card"), status);
  const act = (id: string, text: string, work: () => void, kind = "soft") =>
    h("button", { class: `button ${kind}`, id, onclick: () => (node.close(), work()) }, text);
  const next = act("card-next", "", () => shown?.next && go(shown.next.slug), "primary");
  const again = act("card-again", "", () => shown && go(shown.task.slug));
  const execute = act("card-run", t("Run it"), () => run?.());
  const save = h(
    "button#card-save.button.soft",
    { onclick: () => shown && download(shown) },
    t("Download the picture"),
  );
  const entering = act("card-enter", t("Enter it on the leaderboard"), enter);
  const close = h("button.button.icon", { "aria-label": t("Close"), onclick: () => node.close() }, "×");
  const node = h(
    "dialog#solved.popup.share.solved",
    { "aria-labelledby": "card-title" },
    h("div.share-head", title, close),
    h(
      "section",
      stars,
      claim,
      drawn,
      facts,
      more,
      h("div.row.bench-buttons", next, again, act("card-map", t("All tasks"), openMap)),
    ),
    h("section", link.node, status, h("div.row.bench-buttons", save, entering, execute)),
  );
  let shown: Solved | null = null;
  node.addEventListener("click", (event) => {
    if (event.target === node) node.close();
  });
  document.body.append(node);

  function write(solved: Solved) {
    const { task, aim, position, own, executed } = solved;
    const won = starsOf(aim, position);
    setText(title, textOf(task.title));
    replace(stars, starsNode(won));
    setText(claim, achieved(aim, position, task.named, executed));
    replace(drawn, drawing(position, claim.textContent ?? ""));
    setText(facts, factsOf(position) + (own ? "" : t(" ") + t("Somebody built this order; build your own.")));
    const least = { least: num(aim.least), par: num(task.par.score.makespan) };
    setText(
      more,
      won === MOST_STARS || !aim.least
        ? ""
        : won === 1
          ? t("Two stars: a step of {par}, which is par. Three: {least}, below which no order can be.", least)
          : t("Three stars: a step of {least}. No order can be shorter, and perhaps none is that short.", least),
    );
    setText(next, solved.next ? t("Next: {task}", { task: textOf(solved.next.title) }) : "");
    show(next, solved.next !== null && own);
    setText(again, own ? t("Build it again") : t("Build your own"));
    again.classList.toggle("soft", own);
    again.classList.toggle("primary", !own);
    show(entering, own && hasServer);
    show(execute, own && !executed && run !== null);
    const search = query(solved);
    link.set(new URL(location.pathname + search, location.href).href);
    setText(status, "");
  }

  return {
    open(solved: Solved) {
      shown = solved;
      write(solved);
      if (!node.open) node.showModal();
      (solved.own && solved.next ? next : again).focus();
    },
  };
}

const factsOf = (position: Position) => {
  const { makespan, peak } = scoreOf(position);
  return t("Step time {time}, peak memory {peak}.", { time: num(makespan), peak: num(peak) });
};

/** The card as PNG, in the reader's language. */
function download({ task, aim, position, executed }: Solved) {
  const words = {
    claim: achieved(aim, position, task.named, executed),
    facts: `${textOf(task.title)} · ${factsOf(position)}`,
    stars: starsOf(aim, position),
    most: MOST_STARS,
  };
  const drawn = drawnIn(position, ROOM.width, Math.floor(ROOM.height / scheduleOf(position).p) - 1);
  return savePng(`${task.slug}.png`, awardPicture(words, drawn, pictureColours()), WIDTH, HEIGHT, 1);
}

/** The order as a picture with its ranks, in the colours of the page. */
function drawing(position: Position, caption: string) {
  const row = Math.min(TALLEST, Math.floor(HIGHEST / scheduleOf(position).p));
  const svg = drawnIn(position, Math.min(WIDEST, innerWidth - MARGIN), row);
  const made = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
  made.setAttribute("role", "img");
  made.setAttribute("aria-label", caption);
  made.querySelector("title")?.remove();
  return document.importNode(made, true);
}

/** width, row: px of the picture and of a rank. */
function drawnIn(position: Position, width: number, row: number) {
  const { times } = timesOf(position);
  const schedule = shownSchedule(position);
  const part = { title: "", detail: "", schedule, times, end: times.makespan, costs: position.board.costs };
  return picture(
    [part],
    {
      ...{ width, row, t0: 0, t1: times.makespan },
      ...{ unit: "", numbers: true, legend: false, title: false, background: false, link: "", hatch: false },
    },
    pictureColours(),
  );
}
