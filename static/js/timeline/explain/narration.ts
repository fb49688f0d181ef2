// The line under the timeline that tells what happens at the playhead, or what the critical path and a followed
// micro-batch come to; and the list above it of what each rank does and why.
import { tame, timeText } from "../../data/costs/time_unit.ts";
import { byId, h, replace, sentence, setText, show } from "../../ui/dom.ts";
import { journeyOf, pathOf } from "./highlights.ts";
import { fitHighlightKey, highlightKey } from "./highlight_legend.ts";
import { t } from "../../core/i18n/language.ts";
import { copyingText, doing, doingText, momentOf, narrate, phaseText } from "../../core/explain/narrate.ts";
import { journeyChip, journeySentence, pathChip, pathSentence } from "./path_sentences.ts";
import type { Lane } from "../../data/lanes.ts";
import type { Playback } from "../interact/playback.ts";
import type { Store } from "../../data/store.ts";

type Parts = {
  store: Store;
  lanes: () => Lane[];
  titleOf: (id: string) => string;
  playback: Playback;
  tell: HTMLElement;
  stepper: HTMLElement;
};

const MOST_RANKS = 64;
const OFTEN = 150; // ms between two lists while it plays

export function createNarration(parts: Parts) {
  const { store, lanes, playback, tell, stepper } = parts;
  const line = h("p", { class: "cut narration", id: "narration", "aria-live": "polite" });
  const chips = h("span", { class: "cut narration-chips", "aria-hidden": "true" });
  const more = h(
    "button",
    {
      type: "button",
      class: "button narration-more",
      id: "narration-more",
      "aria-expanded": "false",
      "aria-controls": "narration-panel",
    },
    t("Ranks"),
    h("span", { class: "narration-arrow", "aria-hidden": "true" }),
  );
  const panel = h("div", {
    class: "popup narration-panel",
    id: "narration-panel",
    hidden: true,
    role: "region",
    "aria-label": t("What each rank does"),
    tabindex: "0",
  });
  byId("transport").before(
    h("div", { class: "narration-bar", id: "narration-bar" }, tell, stepper, chips, line, more, panel),
  );
  const toggle = () => store.setView({ story: store.get().view.story === "ranks" ? null : "ranks" });
  more.addEventListener("click", toggle);
  line.addEventListener("click", toggle); // on a phone it is cut short; the list above has all of it
  let listed = "";
  let listedOf: Lane[] = []; // another schedule, or other costs, are other lanes
  let listedAt = 0;

  /** Only where something is new, and seldom while it plays. */
  function list() {
    const now = performance.now();
    const { crit, micro, lane: messages } = store.get().view;
    const states = lanes().map((lane) => {
      const moment = playback.at === null ? "" : momentOf(lane, playback.at);
      return `${lane.id} ${lane.end} ${moment} ${highlightSentences(store, lane).join()}`;
    });
    const key = `${crit} ${micro} ${messages} ${states.join("|")}`;
    if ((key === listed && lanes() === listedOf) || (playback.playing && now - listedAt < OFTEN)) return;
    listed = key;
    listedOf = lanes();
    listedAt = now;
    replace(
      panel,
      h("p", { class: "narration-whole", text: line.textContent ?? "" }),
      highlightKey(store.get().view),
      ...lanes().flatMap((lane) => listOf(parts, lane)),
    );
  }

  return {
    /** Where the legend, or what is drawn besides, has changed. */
    key: () => fitHighlightKey(store.get().view),
    /** Bring the line up to date; called once a frame at most. */
    show() {
      const lane = lanes()[0];
      if (!lane) return;
      const live = playback.playing ? "off" : "polite"; // spoken when stepping, not during playback
      if (line.getAttribute("aria-live") !== live) line.setAttribute("aria-live", live);
      const { text: plain, beside } = sentences(store, lane, playback.at);
      const text =
        lanes().length > 1 && plain ? t("{title}: {text}", { title: parts.titleOf(lane.id), text: plain }) : plain;
      setText(line, tame(text));
      setText(chips, tame(beside));
      if (!playback.playing && line.title !== tame(text)) line.title = tame(text);
      const open = store.get().view.story === "ranks";
      more.setAttribute("aria-expanded", String(open));
      show(panel, open);
      if (open) list();
      else listed = "";
    },
  };
}

function highlightSentences(store: Store, lane: Lane) {
  const path = pathOf(store, lane);
  const journey = journeyOf(store, lane);
  return [journey && journeySentence(lane, journey), path && pathSentence(path)].filter((text) => text !== null);
}

/** The sentence, and what is kept beside it in a few words. */
function sentences(store: Store, lane: Lane, at: number | null) {
  const silent = store.get().view.story === "0";
  const own = silent || at === null ? highlightSentences(store, lane).join(t(" ")) : "";
  if (silent) return { text: own, beside: "" };
  if (at === null)
    return {
      text: own || t("Play or step with the arrow keys: this line describes what happens and why."),
      beside: "",
    };
  const [path, journey] = [pathOf(store, lane), journeyOf(store, lane)];
  const beside = [journey && journeyChip(journey), path && t("critical path: {parts}", { parts: pathChip(path) })];
  return { text: narrate(lane, at), beside: beside.filter(Boolean).join(" · ") };
}

/** What each rank of a lane does, as a table. */
function listOf({ store, lanes, titleOf, playback }: Parts, lane: Lane) {
  const head = [
    lanes().length > 1 ? h("h3", { text: titleOf(lane.id) }) : "",
    ...highlightSentences(store, lane).map((text) => h("p", { text: tame(text) })),
  ];
  if (playback.at === null)
    return [...head, h("p", { text: t("Move the playhead to see what each rank does at that time.") })];
  const at = momentOf(lane, playback.at);
  const rows = Array.from({ length: Math.min(lane.schedule.p, MOST_RANKS) }, (_, rank) => rowOf(lane, rank, at));
  const hidden = lane.schedule.p - rows.length;
  const columns = [t("Rank"), t("Phase"), t("Activity"), t("Why")].map((text) => h("th", { scope: "col", text }));
  const table = h(
    "table",
    {},
    h("caption", { text: t("At {at}", { at: timeText(at) }) }),
    h("thead", {}, h("tr", {}, ...columns)),
    h("tbody", {}, ...rows),
  );
  return [...head, table, hidden > 0 ? h("p", { text: t("and {n} more ranks", { n: hidden }) }) : ""];
}

function rowOf(lane: Lane, rank: number, at: number) {
  const now = doing(lane, rank, at);
  return h(
    "tr",
    { class: now.i < 0 ? "idle" : null },
    h("th", { scope: "row", text: rank }),
    h("td", { text: phaseText(now.phase) }),
    h("td", { text: tame([doingText(lane, now), copyingText(lane, rank, at)].filter(Boolean).join(t("; "))) }),
    h("td", { class: "why", text: now.idle ? sentence(tame(now.idle.why)) : "" }),
  );
}
