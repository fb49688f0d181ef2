// Marks in time: small flags on the axis with their time and the distance to the mark before. A click on one removes
// it.
import { font, xOf } from "../draw/axis.ts";
import { timeNumber, timeText } from "../../data/costs/time_unit.ts";
import { h, replace, show } from "../../ui/dom.ts";
import { colour } from "../../ui/palette.ts";
import { t } from "../../core/i18n/language.ts";
import { MOST_MARKS, marksText, readMarks, toggleMark } from "../../core/state/marks.ts";
import { announce } from "../../ui/live_region.ts";
import type { Scene } from "../../data/lanes.ts";
import type { Store } from "../../data/store.ts";
import type { Timeline } from "../timeline.ts";

type Flag = { t: number; node: HTMLElement };

const PADDING = 11; // px beside a flag's text, both sides
const BETWEEN = 4; // px between time and distance
const BARE = 8; // px of a flag without text

export class Marks {
  store: Store;
  timeline: Timeline;
  toast: (text: string) => void;

  #home = h("div", { class: "marks", role: "group", "aria-label": t("Marks") });
  #flags: Flag[] = [];
  #made = "";

  constructor(store: Store, timeline: Timeline, toast: (text: string) => void) {
    this.store = store;
    this.timeline = timeline;
    this.toast = toast;
    timeline.plot.append(this.#home);
  }

  list() {
    return readMarks(this.store.get().view.marks) ?? [];
  }

  /** Put a mark there, or take away the one that is there. tolerance: how near counts as the same place. */
  toggle(time: number, tolerance: number) {
    const before = this.list();
    const marks = toggleMark(before, Number(time.toPrecision(7)), tolerance);
    if (marks.length > MOST_MARKS) {
      this.toast(t("At most {n} marks: click one to remove it.", { n: MOST_MARKS }));
      return;
    }
    this.store.setView({ marks: marksText(marks) });
    announce(
      marks.length > before.length
        ? t("Mark added at {time}.", { time: timeText(time) })
        : t("Mark removed; {n} left.", { n: marks.length }),
    );
  }

  busy() {
    return this.list().length > 0 || this.#flags.length > 0;
  }

  draw(scene: Scene, ctx: CanvasRenderingContext2D, height: number) {
    this.#make();
    const { layout } = scene;
    const foot = Math.min(height, layout.contentHeight);
    ctx.fillStyle = colour("mark-flag");
    flagsAt(scene, ctx, this.list()).forEach(({ x, look, inside, flip }, at) => {
      const { node } = this.#flags[at];
      show(node, inside);
      if (!inside) return;
      ctx.fillRect(Math.round(x) - 0.5, 0, 1, layout.axisHeight - 2);
      for (const group of layout.groups) {
        const top = group.rows[0]?.stripY ?? foot;
        ctx.fillRect(Math.round(x) - 0.5, top, 1, Math.max(0, Math.min(foot, group.top + group.height) - top));
      }
      node.className = `mark ${look}${flip ? " flip" : ""}`;
      node.style.transform = `translateX(${Math.round(x)}px)${flip ? " translateX(-100%)" : ""}`;
    });
  }

  /** The flags again, where the marks changed. */
  #make() {
    const marks = this.list();
    const texts = marks.map((time) => timeNumber(time)).join();
    if (texts === this.#made) return;
    this.#made = texts;
    const focused = this.#flags.findIndex(({ node }) => node === document.activeElement);
    this.#flags = marks.map((time, at) => this.#flag(time, at > 0 ? time - marks[at - 1] : null));
    replace(this.#home, ...this.#flags.map(({ node }) => node));
    if (focused >= 0) (this.#flags[Math.min(focused, marks.length - 1)]?.node ?? this.timeline.plot).focus();
  }

  /** since: the mark before. */
  #flag(time: number, since: number | null) {
    const { label, gap } = textsOf(time, since);
    const say =
      since === null
        ? t("Mark at {time}. Press to remove it.", { time: timeText(time) })
        : t("Mark at {time}, {gap} after the one before. Press to remove it.", {
            time: timeText(time),
            gap: timeText(since),
          });
    const node = h(
      "button",
      { type: "button", class: "mark", "aria-label": say, title: say, onclick: () => this.toggle(time, 0) },
      h("b", { text: label }),
      gap ? h("span", { text: gap }) : null,
    );
    return { t: time, node };
  }
}

/** since: the mark before. */
const textsOf = (time: number, since: number | null) => ({
  label: timeNumber(time),
  gap: since === null ? "" : `+${timeNumber(since)}`,
});

/**
 * Where the flags of marks stand, and how much of their text has room before the next one: all, the time, or neither.
 */
function flagsAt(
  scene: Scene,
  ctx: CanvasRenderingContext2D,
  marks: number[],
): { x: number; width: number; look: "" | "short" | "short bare"; inside: boolean; flip: boolean }[] {
  const { plotLeft, plotWidth } = scene.layout;
  ctx.font = font(11);
  return marks.map((time, at) => {
    const { label, gap } = textsOf(time, at > 0 ? time - marks[at - 1] : null);
    const x = xOf(scene, time);
    const short = ctx.measureText(label).width + PADDING;
    const long = short + (gap ? ctx.measureText(gap).width + BETWEEN : 0);
    const room = at + 1 < marks.length ? xOf(scene, marks[at + 1]) - x - 1 : Infinity;
    const look = room >= long ? "" : room >= short ? "short" : "short bare";
    return {
      x,
      look,
      width: room >= long ? long : room >= short ? short : BARE,
      inside: x >= plotLeft - 0.5 && x <= plotLeft + plotWidth + 0.5,
      flip: room === Infinity && x + long > plotLeft + plotWidth + 8,
    };
  });
}

/** The stretches of the axis that flags take. text: the marks as the link has them. */
export const flagged = (scene: Scene, ctx: CanvasRenderingContext2D, text: string | null): [number, number][] =>
  flagsAt(scene, ctx, readMarks(text) ?? [])
    .filter(({ inside }) => inside)
    .map(({ x, width, flip }) => (flip ? [x - width, x] : [x, x + width]));
