// The export tab: the schedules on the screen as a picture for print or slides, and as files for other programs.
import { Refusal, getResponse, needsServer, whyFailed } from "../../data/api.ts";
import { onRest } from "../../ui/rest.ts";
import { saveBlob, savePng } from "../../ui/save_file.ts";
import { h, hasServer, replace, setText } from "../../ui/dom.ts";
import { optionNodes, type Choice } from "../../ui/fields/choices.ts";
import { setNote } from "../../ui/notes.ts";
import { createConfiguration } from "./configuration.ts";
import { pictureOf } from "./pictures.ts";
import { t } from "../../core/i18n/language.ts";
import { letter } from "../../core/state/schedules.ts";
import { specQuery } from "../../core/state/link.ts";
import type { Plans } from "../../data/plans.ts";
import type { Plan } from "../../data/plan.ts";
import type { Schedule } from "../../core/schedule/types.ts";
import type { Store } from "../../data/store.ts";
import type { Timeline } from "../../timeline/timeline.ts";

const MM = 96 / 25.4; // px
/** Widths by name: px, and mm for a file with a size in mm. */
const WIDTHS: Record<string, { px: number; mm?: number }> = {
  column: { px: Math.round(84 * MM), mm: 84 },
  page: { px: Math.round(174 * MM), mm: 174 },
  slide: { px: 1280 },
  wide: { px: 1920 },
};
/** What other programs read. */
const TORCH_CSV = "torch-csv";
const FORMATS = [TORCH_CSV, "chrome-trace", "json"];

type Parts = { store: Store; plans: Plans; timeline: Timeline; share: () => void };

class ExportPanel {
  store: Store;
  plans: Plans;
  timeline: Timeline;
  panel: HTMLDivElement;

  #window = select("export-window", t("Show"), [
    ["sight", t("current view")],
    ["all", t("the whole step")],
  ]);
  #width = select("export-width", t("Width"), [
    ["page", t("a page, 174 mm")],
    ["column", t("a column, 84 mm")],
    ["slide", t("a slide, 1280 px")],
    ["wide", t("wide, 1920 px")],
  ]);
  #row = select("export-row", t("Rows"), [
    ["0", t("as many as fit a page")],
    ["8", t("low")],
    ["14", t("medium")],
    ["22", t("tall")],
  ]);
  #scheme = select("export-scheme", t("Background"), [
    ["light", t("light")],
    ["dark", t("dark")],
    ["none", t("none, for light paper")],
  ]);
  #numbers = box("export-numbers", t("Micro-batch numbers"), true);
  #legend = box("export-legend", t("Legend"), true);
  #title = box("export-title", t("Headings"), true);
  #source = box("export-source", t("Address of the view"), false);
  #preview = h("div.export-preview", { role: "img", "aria-label": t("Preview of the picture") });
  #status = h("p#export-status.note", { role: "status" });
  #files = h("div.export-files");
  #configuration: ReturnType<typeof createConfiguration>;
  #address = "";

  /** share: opens its dialog. */
  constructor({ store, plans, timeline, share }: Parts) {
    this.store = store;
    this.plans = plans;
    this.timeline = timeline;
    this.#configuration = createConfiguration(store);
    const lists = [this.#window, this.#width, this.#row, this.#scheme];
    const choices = [...lists, this.#numbers, this.#legend, this.#title, this.#source];
    for (const { input } of choices) input.addEventListener("change", () => this.show());
    onRest(() => this.show());
    const button = (id: string, text: string, act: () => void, kind = "soft") =>
      h("button", { class: `button ${kind}`, id, onclick: act }, text);
    this.panel = h(
      "div.export",
      h(
        "section.export-picture",
        h("h2", { text: t("Picture") }),
        h("div.export-choices", ...choices.map(({ node }) => node)),
        h(
          "div.row",
          button("export-svg", t("SVG"), () => this.#svg(), "primary"),
          button("export-png", t("PNG, three times as sharp"), () => this.#png()),
          button("export-print", t("Print"), () => print()),
        ),
        this.#status,
      ),
      h("div.export-middle", this.#preview, hasServer ? this.#configuration.node : ""),
      h(
        "section",
        h("h2", { text: t("Order and times") }),
        hasServer ? this.#files : h("p.note", needsServer().message),
        h("h2", { text: t("Stand-alone HTML file") }),
        h("p.note", {
          text: t(
            "One file with this view, playback and cost sliders, which needs no server; also code to embed it, " +
              "and short links.",
          ),
        }),
        button("export-share", t("Share …"), share),
      ),
    );
  }

  /** The current picture; with `file` its size is in millimetres if the reader chose them. */
  #draw() {
    const { px, mm } = WIDTHS[this.#width.input.value];
    const all = { t0: 0, t1: this.timeline.total() };
    const drawn = pictureOf(this.plans, {
      window: this.#window.input.value === "all" ? all : this.timeline.visible(),
      width: px,
      row: Number(this.#row.input.value),
      scheme: this.#scheme.input.value,
      numbers: this.#numbers.input.checked,
      legend: this.#legend.input.checked,
      title: this.#title.input.checked,
      link: this.#source.input.checked ? this.store.link() : "",
    });
    const file = mm
      ? drawn.svg.replace(/ width="\d+" height="\d+"/, ` width="${mm}mm" height="${(drawn.height / MM).toFixed(2)}mm"`)
      : drawn.svg;
    return { ...drawn, file };
  }

  /** The preview and the list of files, as the schedules are now. */
  show() {
    if (this.panel.hidden) return;
    const { svg, width, height } = this.#draw();
    const mine = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
    URL.revokeObjectURL(this.#address);
    this.#address = mine;
    replace(this.#preview, h("img", { src: mine, width, height, alt: "" }));
    setText(
      this.#status,
      t("{width} × {height} px, {size} kB as SVG; text stays editable.", {
        width,
        height,
        size: Math.ceil(svg.length / 1000),
      }),
    );
    replace(this.#files, ...this.plans.onScreen().map((plan) => this.#filesOf(plan)));
    if (hasServer) this.#configuration.follow(this.plans.first);
  }

  #filesOf(plan: Plan) {
    const spec = plan.shown ?? plan.asked;
    const at = this.plans.onScreen().indexOf(plan);
    const names = {
      "torch-csv": t("Order as torch's CSV"),
      "chrome-trace": t("Chrome trace"),
      json: t("JSON with all times"),
    };
    const title = this.plans.family(spec.family)?.title ?? spec.family;
    const noCsv = plan.schedule ? whyNoCsv(plan.schedule) : null;
    const status = h("span.problem", { role: "status", hidden: true });
    return h(
      "div.row",
      { role: "group", "aria-label": title },
      h("span.export-name", { text: this.plans.onScreen().length > 1 ? `${letter(at)} · ${title}` : title }),
      ...FORMATS.filter((form) => form !== TORCH_CSV || !noCsv).map((form) =>
        h(
          "button.button.soft",
          { "data-format": form, onclick: () => this.#file(plan, form, status) },
          names[form as keyof typeof names],
        ),
      ),
      status,
      noCsv ? h("p.note", { text: noCsv }) : "",
    );
  }

  async #file(plan: Plan, form: string, status: HTMLElement) {
    status.hidden = true;
    try {
      const { name, blob } = await download(
        `/api/export${specQuery(plan.shown ?? plan.asked, this.store.defaults)}&format=${form}`,
      );
      saveBlob(name, blob);
    } catch (problem) {
      setNote(status, whyFailed(problem));
    }
  }

  #name() {
    const { family, p, m } = this.store.get().spec;
    return `bubbleline-${[family, ...this.store.get().others.map((other) => other.family)].join("-")}-p${p}-m${m}`;
  }

  #svg() {
    saveBlob(`${this.#name()}.svg`, new Blob([this.#draw().file], { type: "image/svg+xml" }));
  }

  async #png() {
    const { svg, width, height } = this.#draw();
    await savePng(`${this.#name()}.png`, svg, width, height);
  }
}

/** A file from the server under the name that it gives it. */
async function download(path: string) {
  const response = await getResponse(path, { Prefer: "handling=lenient" });
  const name = /filename="([^"]+)"/.exec(response.headers.get("Content-Disposition") ?? "")?.[1];
  if (!response.ok || !name) throw new Refusal((await response.json()).error, response.status);
  return { name, blob: await response.blob() };
}

/** Why torch's CSV cannot hold an order, null where it can. */
function whyNoCsv({ placement, barriers, copies }: Schedule) {
  if (placement.streams > 1)
    return t("No torch CSV: Chimera and DualPipe hold each stage on two devices. DualPipeV can be exported.");
  if (barriers > 0) return t("No torch CSV: it has no text for the ops of a sharded output layer.");
  return copies === null ? null : t("No torch CSV: it has no text for copies to host memory.");
}

function select(id: string, label: string, options: Choice[]) {
  const input = h("select", { id }, ...optionNodes(options));
  return { node: h("label.choice", h("span", { text: label }), input), input };
}

function box(id: string, label: string, checked: boolean) {
  const input = h("input", { type: "checkbox", id, checked });
  return { node: h("label.check", input, label), input };
}

export const createExport = (parts: Parts) => new ExportPanel(parts);
