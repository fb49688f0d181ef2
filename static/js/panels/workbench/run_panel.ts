// Runs what was built, as the page runs every order: the workers execute it, verify its gradients, and its measured ops
// stand under the plan. And takes it away: as a link to the whole page, as torch's CSV, as JSON.
import { needsServer, whyFailed } from "../../data/api.ts";
import { isOver, startRun, type Run } from "../../data/runs/client.ts";
import { runLabel } from "../../data/runs/run_place.ts";
import { orderSpec, queryOf } from "../../data/workbench/address.ts";
import { t, tr } from "../../core/i18n/language.ts";
import { formatNumber as num, formatPercent } from "../../core/i18n/numbers.ts";
import { specQuery } from "../../core/state/link.ts";
import { isWhole } from "../../core/workbench/position.ts";
import { violations } from "../../core/workbench/violations.ts";
import { h, hasServer, sentence, setText, show } from "../../ui/dom.ts";
import type { Session } from "../../core/workbench/session.ts";
import type { RunsOnScreen } from "../../data/runs/runs_on_screen.ts";
import type { Store } from "../../data/store.ts";

type Parts = { session: Session; store: Store; runs: RunsOnScreen; mayRun: boolean };

const OPTIONS = { mode: "auto", unit_ms: null, dtype: "float32", device: "auto", steps: 1, seed: 0 };

export function createRunPanel({ session, store, runs, mayRun }: Parts) {
  const start = h("button#bench-run.button.primary", { onclick: run }, runLabel());
  const status = h("p#bench-run-status.bench-run", { role: "status" });
  const link = (id: string, text: string, props: Record<string, string> = {}) =>
    h("a.button.soft", { id, ...props }, text);
  const open = link("bench-open", t("Open in the whole page"));
  const csv = link("bench-csv", t("torch's CSV"), { download: "order.csv" });
  const json = link("bench-json", t("JSON"), { download: "order.json" });
  const files = h("div#bench-files.row.bench-buttons", open, csv, json);
  const note = h("p.note", { text: t("A complete order can be run, opened in the whole page and exported.") });
  const node = h(
    "section",
    { "aria-label": t("Run and export") },
    h("h2", { text: t("Run and export") }),
    ...(hasServer
      ? [h("div.row.bench-buttons", start), status, note, files]
      : [h("p.note", needsServer(true).message)]),
  );
  let starting = false;

  const ready = () => isWhole(session.position) && violations(session.position).length === 0;

  async function run() {
    if (!ready()) {
      session.refuse(session.rank, t("Only a complete order can run; ops are still to be placed."));
      return;
    }
    starting = true;
    setText(status, t("Asking for a run …"));
    sync();
    try {
      const { id } = await startRun(orderSpec(session.position), OPTIONS);
      store.setView({ run: id }, "none");
      setText(status, t("The run is queued."));
    } catch (problem) {
      setText(status, whyFailed(problem));
    }
    starting = false;
    sync();
  }

  function sync() {
    const whole = ready();
    start.setAttribute("aria-disabled", String(!whole || starting || runs.live || !mayRun));
    start.disabled = starting || runs.live || !mayRun;
    if (!mayRun) start.title = t("This link may look, and not run.");
    show(note, !whole);
    show(files, whole);
    if (!whole) return;
    open.href = `/${queryOf(store, session.position, ["theme", "colours", "hatch", "lang"])}`;
    const query = specQuery(orderSpec(session.position), store.defaults);
    csv.href = `/api/export${query}&format=torch-csv`;
    json.href = `/api/export${query}&format=json`;
  }

  runs.onChange(() => {
    const present = runs.run;
    if (present) setText(status, runText(present));
    sync();
  });
  return { node, sync, run };
}

/** What a run is doing, or has come to. */
function runText(run: Run) {
  if (run.status === "failed") return sentence(run.failure ? tr(run.failure) : t("The run failed."));
  if (run.status === "cancelled") return t("The run was cancelled.");
  if (!isOver(run)) {
    if (run.status === "queued") return t("The run is queued.");
    return run.status === "running" ? t("The workers execute your order …") : t("The workers get ready …");
  }
  const parts = [];
  if (run.verified)
    parts.push(
      t("Verified: its gradients equal those of one process (largest error {error}).", {
        error: num(run.max_grad_error ?? 0),
      }),
    );
  else if (run.verified === false) parts.push(t("Not verified: its gradients differ."));
  const [planned, measured] = [run.predicted?.bubble?.global?.of_total, run.measured?.bubble?.global?.of_total];
  if (typeof planned === "number" && typeof measured === "number")
    parts.push(
      t("Bubble {measured} measured, {planned} planned.", {
        measured: formatPercent(measured),
        planned: formatPercent(planned),
      }),
    );
  return parts.join(t(" ")) || t("The run has finished.");
}
