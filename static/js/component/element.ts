// The element <bubble-line>: its attributes are its whole state, and what a reader changes becomes an attribute.
import { CONSTRUCTED, construct } from "../core/families/construct.ts";
import { legalNear } from "../core/families/legal.ts";
import { language, t } from "../core/i18n/language.ts";
import { formatNumber as num, formatPercent, formatTime } from "../core/i18n/numbers.ts";
import { holding, peakMemory } from "../core/schedule/memory.ts";
import { figures } from "../core/schedule/metrics.ts";
import { opText } from "../core/schedule/ops.ts";
import { simulate } from "../core/schedule/simulate.ts";
import { tickStep } from "../core/timeline/scale.ts";
import { placeIn } from "../ui/canvas.ts";
import { h, icon, replace, setText } from "../ui/dom.ts";
import { ATTRIBUTES, settings, type Settings } from "./attributes.ts";
import { controlRows } from "./controls.ts";
import { Picture } from "./picture.ts";
import { Player } from "./player.ts";
import { styleSheet, TYPE } from "./style.ts";
import { legend, saidAt, saidOf, sizesText, speakFor, summary, table, type Said, type Shown } from "./words.ts";
import type { Lane } from "../data/lanes.ts";

const PLAY = "M4 2.5v11l9-5.5z";
const PAUSE = "M4 2.5h3v11H4zM9 2.5h3v11H9z";
const SCRUB_STEPS = 1000;
const AWAY = 12; // px from the pointer to the tip

export class BubbleLine extends HTMLElement {
  static observedAttributes = ATTRIBUTES;
  #frame = h("div.frame");
  #title = h("strong");
  #sizes = h("span.sizes");
  #figures = h("span.figures");
  #legend = h("div.legend");
  #controls = h("div.sliders", { role: "group" });
  #plot = h("div.plot", { tabindex: 0, role: "application" });
  #tip = h("div.tip", { hidden: true });
  #toggle = h("button", { onclick: () => this.#player.toggle() }, icon(PLAY));
  #scrub = h("input", { type: "range", min: 0, max: SCRUB_STEPS, value: SCRUB_STEPS });
  #now = h("output");
  #transport = h("div.transport", { role: "group" }, this.#toggle, this.#scrub, this.#now);
  #readable = h("div");
  #said = h("div.said", { "aria-live": "polite" });
  #problem = h("p.problem", { role: "alert", hidden: true });
  #picture = new Picture(this.#plot, this.#frame);
  #player = new Player(() => this.#onTime());
  #sizesWatched = new ResizeObserver(() => {
    this.#enlarge();
    this.#draw();
  });
  #waiting = false;
  #lane: Lane | null = null;
  #settings: Settings | null = null;
  #shown: Shown | null = null;
  #pointed: Said | null = null;
  #drawnFor = "";
  #controlsFor = "";

  constructor() {
    super();
    const root = this.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = [styleSheet()];
    this.#plot.append(this.#tip);
    this.#frame.append(
      h("div.head", this.#title, this.#sizes, this.#figures),
      this.#controls,
      this.#legend,
      this.#plot,
      this.#transport,
      this.#readable,
      this.#said,
      this.#problem,
    );
    root.append(this.#frame);
    this.#listen();
  }

  #listen() {
    const plot = this.#plot;
    plot.addEventListener("pointermove", (event) => this.#point(event));
    plot.addEventListener("pointerdown", (event) => this.#point(event));
    plot.addEventListener("click", () => this.#choose());
    plot.addEventListener("pointerleave", ({ pointerType }) => {
      if (pointerType !== "touch") this.#select(null); // a finger that is lifted leaves what it touched explained
    });
    plot.addEventListener("blur", () => this.#select(null));
    plot.addEventListener("keydown", (event) => this.#onKey(event));
    this.#scrub.addEventListener("input", () => {
      this.#player.seek((Number(this.#scrub.value) / SCRUB_STEPS) * (this.#lane?.end ?? 0));
    });
  }

  connectedCallback() {
    this.#update();
    this.#sizesWatched.observe(this.#plot);
    THEME.addEventListener("change", this.#recolour);
    LANGUAGE_LISTENERS.add(this.#onLanguage);
    if (this.hasAttribute("autoplay") && !STILL.matches) this.#player.play();
  }

  disconnectedCallback() {
    this.#player.stop();
    this.#sizesWatched.disconnect();
    THEME.removeEventListener("change", this.#recolour);
    LANGUAGE_LISTENERS.delete(this.#onLanguage);
  }

  /** Several attributes that change at once are one update. */
  attributeChangedCallback() {
    if (this.#waiting || !this.isConnected) return;
    this.#waiting = true;
    queueMicrotask(() => {
      this.#waiting = false;
      if (this.isConnected) this.#update();
    });
  }

  /** What it shows: idle share of the step, time of the step, peak memory; null while an attribute is wrong. */
  get figures() {
    return this.#shown;
  }

  play() {
    this.#player.play();
  }

  pause() {
    this.#player.stop();
  }

  #recolour = () => {
    this.#picture.recolour();
    this.#draw();
  };

  #onLanguage = () => this.#update();

  #update() {
    speakFor(this);
    const read = settings((name) => this.getAttribute(name));
    const wrong = "text" in read;
    for (const node of this.#frame.children) (node as HTMLElement).hidden = wrong !== (node === this.#problem);
    if (wrong) {
      this.#player.stop();
      this.#settings = this.#lane = this.#shown = null;
      this.#drawnFor = "";
      setText(this.#problem, read.text);
      return;
    }
    this.#settings = read;
    this.#player.speed = read.speed;
    if (this.#frame.dataset.theme !== read.theme) {
      this.#frame.dataset.theme = read.theme;
      this.#picture.recolour();
    }
    this.#enlarge();
    this.#time(read);
    this.#write(read);
    this.#draw();
  }

  /** As large as the font size that the style of the page asks for. */
  #enlarge() {
    const zoom = String(parseFloat(getComputedStyle(this).fontSize) / TYPE || 1);
    if (this.#frame.style.zoom !== zoom) this.#frame.style.zoom = zoom;
  }

  /** Make the order and its times, if the schedule is another. */
  #time({ spec }: Settings) {
    const key = JSON.stringify(spec);
    if (key === this.#drawnFor) return;
    this.#drawnFor = key;
    const schedule = construct(spec);
    const times = simulate(schedule, spec.costs);
    this.#lane = {
      ...{ id: "a", kind: "plan", schedule, times, spec, costs: spec.costs, end: times.makespan },
      ...{ family: CONSTRUCTED[spec.family].title, stale: false, live: false },
      asynchronous: CONSTRUCTED[spec.family].asynchronous,
    };
    const { bubble, makespan } = figures(schedule, times);
    const peak = Math.max(...peakMemory(schedule, times, holding(spec)));
    this.#shown = { bubble: bubble.global.ofTotal, makespan, peak };
    this.#picture.show(this.#lane);
    this.#player.stop();
    this.#player.total = times.makespan;
    this.#player.at = null;
    this.#select(null);
  }

  #write({ spec, controls }: Settings) {
    const [lane, shown] = [this.#lane, this.#shown];
    if (!lane || !shown) return;
    setText(this.#title, lane.family ?? "");
    setText(this.#sizes, sizesText(lane));
    replace(
      this.#figures,
      ...[`${t("bubble")} `, h("b", { text: formatPercent(shown.bubble) })],
      ...[` · ${t("step time")} `, h("b", { text: num(shown.makespan) })],
      ...[` · ${t("peak memory")} `, h("b", { text: num(shown.peak) })],
    );
    replace(this.#legend, ...legend(lane));
    this.#writeControls(controls, spec);
    this.#transport.hidden = !controls.includes("play");
    this.#transport.setAttribute("aria-label", t("Playback"));
    this.#scrub.setAttribute("aria-label", t("Playhead"));
    const text = summary(lane, shown);
    this.#plot.setAttribute("aria-label", t("{text} Arrow keys choose an op, space plays.", { text }));
    this.#plot.setAttribute("aria-roledescription", t("schedule timeline"));
    const rows = table(lane, figures(lane.schedule, lane.times).busy);
    const open = this.#readable.querySelector("details")?.open ?? false;
    this.#readable.className = controls.includes("table") ? "" : "out";
    replace(
      this.#readable,
      controls.includes("table") ? h("details", { open }, h("summary", { text: t("Read as a table") }), rows) : rows,
    );
    this.#onTime();
  }

  /** Controls are made anew only when they are others, so that one that is dragged stays. */
  #writeControls(controls: Settings["controls"], spec: Settings["spec"]) {
    const wanted = controls.filter((name) => name !== "play" && name !== "table");
    const range = CONSTRUCTED[spec.family].v;
    const key = JSON.stringify([wanted, range, language()]);
    this.#controls.hidden = wanted.length === 0;
    this.#controls.setAttribute("aria-label", t("Sizes and costs"));
    if (key !== this.#controlsFor) {
      this.#controlsFor = key;
      const rows = controlRows(wanted, range, (name, value) => this.#change(name, value));
      replace(this.#controls, ...rows.map(({ row }) => row));
      this.#rows = rows;
    }
    for (const row of this.#rows) row.write(spec);
  }

  #rows: ReturnType<typeof controlRows> = [];

  /** A reader's change; what the family refuses then takes the nearest legal value. */
  #change(name: string, value: string | number) {
    if (!this.#settings) return;
    const { spec } = this.#settings;
    const family = name === "family" ? String(value) : spec.family;
    const range = CONSTRUCTED[family].v;
    const keep = CONSTRUCTED[spec.family].v.max > 1 && spec.v >= range.min && spec.v <= range.max;
    const near = legalNear({
      ...spec,
      family,
      v: keep ? spec.v : range.default,
      group: CONSTRUCTED[family].fields.includes("group") ? spec.group : null,
      ...(["p", "m", "v"].includes(name) ? { [name]: Number(value) } : {}),
    });
    if (!near) return;
    if (near.group === null) this.removeAttribute("group");
    else this.setAttribute("group", String(near.group));
    if (!CONSTRUCTED[family].fields.includes("lifo")) this.removeAttribute("lifo");
    for (const [size, to] of Object.entries({ family, p: near.p, m: near.m, v: near.v })) {
      if (size === "v" && to === range.default) this.removeAttribute(size);
      else this.setAttribute(size, String(to));
    }
    if (["f", "i", "w", "comm"].includes(name)) this.setAttribute(name, String(value));
    this.#update();
    const { p, m, v } = near;
    this.dispatchEvent(
      new CustomEvent("change", { bubbles: true, composed: true, detail: { family, p, m, v, ...this.#shown } }),
    );
  }

  #draw() {
    if (!this.#lane) return;
    speakFor(this);
    this.#picture.draw();
    this.#drawOver();
  }

  #drawOver() {
    this.#picture.drawOver(this.#player.at, this.#pointed?.mark ?? null);
  }

  /** The playhead moved, or it began or ceased to move by itself. */
  #onTime() {
    if (!this.#lane) return;
    speakFor(this);
    const { at, playing } = this.#player;
    const { end } = this.#lane;
    const step = tickStep(end, 200);
    this.#toggle.querySelector("path")?.setAttribute("d", playing ? PAUSE : PLAY);
    this.#toggle.setAttribute("aria-label", playing ? t("Pause") : t("Play"));
    this.#scrub.value = String(Math.round(((at ?? end) / (end || 1)) * SCRUB_STEPS));
    this.#scrub.setAttribute("aria-valuetext", at === null ? t("the end") : formatTime(at, step));
    setText(this.#now, t("t {at} / {end}", { at: formatTime(at ?? end, step), end: formatTime(end, step) }));
    this.#drawOver();
  }

  #point(event: PointerEvent) {
    if (!this.#lane) return;
    speakFor(this);
    const { x, y } = placeIn(this.#plot, event);
    const place = this.#picture.placeAt(x, y);
    this.#select(place && saidAt(this.#lane, place.rank, place.t));
  }

  /** Tell the page around which op, or which idle time of a rank, a reader has chosen. */
  #choose() {
    const [lane, mark] = [this.#lane, this.#pointed?.mark];
    if (!lane || !mark) return;
    const op = mark.i < 0 ? null : opText(lane.schedule, mark.i);
    const detail = { op, rank: mark.rank, at: (mark.from + mark.to) / 2 };
    this.dispatchEvent(new CustomEvent("choose", { bubbles: true, composed: true, detail }));
  }

  #select(said: Said | null) {
    this.#pointed = said;
    this.#tip.hidden = said === null;
    if (said) {
      replace(this.#tip, h("b", { text: said.head }), said.text);
      this.#placeTip(said);
    }
    if (this.#lane) this.#drawOver();
  }

  /** Below what it is about, or above where there is more room. */
  #placeTip({ mark }: Said) {
    const box = this.#picture.boxOf(mark);
    if (!box) return;
    const { clientWidth, clientHeight } = this.#plot;
    const left = Math.max(8, Math.min(box.x, clientWidth - this.#tip.offsetWidth - 8));
    const under = box.y + box.h + AWAY;
    const fits = under + this.#tip.offsetHeight < clientHeight;
    const above = box.y - AWAY - this.#tip.offsetHeight;
    this.#tip.style.left = `${left}px`;
    this.#tip.style.top = `${fits ? under : Math.max(4, above)}px`;
  }

  #onKey(event: KeyboardEvent) {
    if (!this.#lane || event.ctrlKey || event.metaKey || event.altKey) return;
    const moves = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
    const move = moves[event.key as keyof typeof moves];
    if (move) this.#step(move[0], move[1]);
    else if (event.key === " ") this.#player.toggle();
    else if (event.key === "Home") this.#player.seek(0);
    else if (event.key === "End") this.#player.seek(null);
    else if (event.key === "Enter") this.#choose();
    else if (event.key === "Escape") this.#select(null);
    else return;
    event.preventDefault();
  }

  /** Choose another op, in its rank's row or in the row above or below. */
  #step(rows: number, ops: number) {
    const lane = this.#lane;
    if (!lane) return;
    speakFor(this);
    const { schedule, times } = lane;
    const mark = this.#pointed?.mark;
    const rank = Math.min(schedule.p - 1, Math.max(0, (mark?.rank ?? 0) + (mark ? rows : 0)));
    const [first, last] = [schedule.offsets[rank], schedule.offsets[rank + 1] - 1];
    let i = first;
    if (mark && (rows || mark.i < 0)) while (i < last && times.end[i] <= mark.from) i++;
    else if (mark) i = Math.min(last, Math.max(first, mark.i + ops));
    const said = saidOf(lane, rank, i);
    this.#select(said);
    setText(this.#said, `${said.head}. ${said.text}`);
  }
}

const THEME = matchMedia("(prefers-color-scheme: dark)");
const STILL = matchMedia("(prefers-reduced-motion: reduce)");
const LANGUAGE_LISTENERS = new Set<() => void>();
new MutationObserver(() => LANGUAGE_LISTENERS.forEach((listener) => listener())).observe(document.documentElement, {
  attributeFilter: ["lang"],
});
