// A run as a row of the list: its schedule, mode and figures, its outcome, and buttons to show, name and delete it.
import { h, replace } from "../../ui/dom.ts";
import { locale } from "../../ui/languages.ts";
import { t } from "../../core/i18n/language.ts";
import { formatNumber, formatPercent } from "../../core/i18n/numbers.ts";
import { isOver, mayChange, type ListedRun } from "../../data/runs/client.ts";
import { deviceName, modeName, nameOf, outcomeOf, sizesText, unusual } from "../../data/runs/run_titles.ts";

type RowActs = {
  title: string; // of its schedule
  shown: boolean; // on the timeline
  others: boolean; // whether other runs are there
  chosen: boolean;
  link: string;
  add: () => void;
  only: () => void;
  choose: (on: boolean) => void;
  rename: (name: string, keys: boolean) => void;
  remove: () => void;
  announce: (text: string) => void;
};

const LONGEST_NAME = 80;

/** The columns. */
export const widths = () => [
  { cls: "", text: t("schedule") },
  { cls: "", text: t("mode, device") },
  { cls: "num", text: t("step time") },
  { cls: "num", text: t("bubble") },
  { cls: "", text: t("outcome") },
  { cls: "", text: t("when") },
];

export function rowOf(run: ListedRun, acts: RowActs) {
  const title = nameOf(run, acts.title);
  const ready = run.status === "finished";
  const pick = ready
    ? h("input", {
        type: "checkbox",
        "aria-label": t("Compare {run}", { run: title }),
        checked: acts.chosen,
        onchange: (event: Event) => acts.choose((event.target as HTMLInputElement).checked),
      })
    : "";
  const head = h("th", { scope: "row" }, ...named(run, acts.title));
  const buttons = h("td.run-acts");
  const row = h(
    "tr",
    { "data-row": run.id, class: acts.shown ? "is-shown" : null },
    h("td.run-pick", pick),
    head,
    cell(
      t("mode, device"),
      run.mode ? modeName(run.mode) : "–",
      [run.device ? deviceName(run.device) : "", ...unusual(run)].filter(Boolean).join(", "),
    ),
    figure(t("step time"), run, (each) => each?.makespan, run.mode === "imported" ? milliseconds : short),
    figure(t("bubble"), run, (each) => each?.bubble?.global?.of_total, formatPercent),
    outcome(run),
    cell(t("when"), new Date(run.created * 1000).toLocaleString(locale(), { dateStyle: "short", timeStyle: "short" })),
    buttons,
  );
  replace(buttons, ...buttonsOf(run, acts, title, head, buttons));
  return row;
}

/** Its name with its schedule below; without a name, the schedule. */
function named({ name, mode, spec }: ListedRun, title: string) {
  const what = mode === "imported" ? t("Imported trace") : title;
  const sizes = sizesText(spec);
  return name
    ? [h("b", { text: name }), h("small", { text: `${what} · ${sizes}` })]
    : [what, h("small", { text: sizes })];
}

/** label: for narrow screens, where the columns have no heads. */
const cell = (label: string, text: string, more?: string) =>
  h("td", { "data-label": label }, text, more ? h("small", { text: more }) : "");

const short = (x: number) => formatNumber(Math.round(x * 100) / 100);

const milliseconds = (x: number) => `${short(x)} ms`;

/** The measured figure, with the predicted one below. */
function figure(label: string, run: ListedRun, of: (figures: any) => unknown, format: (x: number) => string) {
  const [real, plan] = [of(run.measured), of(run.predicted)];
  return h(
    "td.num",
    { "data-label": label },
    typeof real === "number" ? format(real) : "–",
    typeof real === "number" && typeof plan === "number"
      ? h("small", { text: t("predicted {value}", { value: format(plan) }) })
      : "",
  );
}

function outcome(run: ListedRun) {
  const { word, tone, more } = outcomeOf(run);
  return h(
    "td.run-outcome",
    { "data-label": t("outcome") },
    h("span", { class: `run-word ${tone}`, text: word }),
    more ? h("small", { text: more }) : "",
  );
}

/** home: of the buttons. */
function buttonsOf(run: ListedRun, acts: RowActs, title: string, head: HTMLElement, home: HTMLElement) {
  const button = (text: string, act: () => void, more: { cls?: string; run?: string } = {}) =>
    h(
      "button",
      {
        class: `link ${more.cls ?? ""}`,
        "data-run": more.run ?? null,
        onclick: act,
        "aria-label": `${text}: ${title}`,
      },
      text,
    );
  const open = acts.shown
    ? [h("span.run-on", { text: t("on the timeline") })]
    : acts.others
      ? [button(t("Add"), acts.add, { run: run.id }), button(t("Only this"), acts.only)]
      : [button(t("Show"), acts.only, { run: run.id })];
  return [
    ...open,
    mayChange(run) ? button(t("Rename"), () => askName(run, acts, head), { cls: "run-rename" }) : "",
    button(t("Copy link"), () => copy(acts)),
    isOver(run) && mayChange(run) ? button(t("Delete"), () => askDelete(run, acts, title, head, home)) : "",
  ];
}

async function copy({ link, announce }: RowActs) {
  try {
    await navigator.clipboard.writeText(link);
    announce(t("The link to the run is copied."));
  } catch {
    announce(t("This browser does not allow copying; the link is {link}", { link }));
  }
}

/** The name becomes a field: Enter and leaving it save, Esc does not. */
function askName(run: ListedRun, acts: RowActs, head: HTMLElement) {
  const field = h("input.run-name", {
    type: "text",
    maxlength: LONGEST_NAME,
    "aria-label": t("Name of the run"),
    placeholder: t("a name, such as: before lunch"),
  });
  field.value = run.name;
  let done = false;
  const end = (keep: boolean, keys = true) => {
    if (done) return;
    done = true;
    acts.rename(keep ? field.value : (run.name ?? ""), keys);
  };
  field.addEventListener("keydown", (event) => {
    event.stopPropagation(); // not a shortcut of the timeline
    if (event.key === "Enter" || event.key === "Escape") end(event.key === "Enter");
  });
  field.addEventListener("blur", () => end(true, false));
  replace(head, field);
  field.focus();
  field.select();
}

function askDelete(run: ListedRun, acts: RowActs, title: string, head: HTMLElement, home: HTMLElement) {
  const sure = h("button.link.danger", { onclick: acts.remove }, t("Delete for good"));
  const keep = h(
    "button.link",
    {
      onclick: () => {
        replace(home, ...buttonsOf(run, acts, title, head, home));
        home.querySelector("button")?.focus();
      },
    },
    t("Keep it"),
  );
  replace(home, h("span", { role: "alert", text: t("Links to it will no longer work.") }), sure, keep);
  keep.focus();
}
