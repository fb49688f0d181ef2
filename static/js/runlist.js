// The runs that this server has kept: opened on demand, each can be put on the timeline, alone or beside others.
import { getJson } from "./api.js";
import { h, replace, setText } from "./dom.js";
import { locale } from "./languages.js";
import { t } from "./pure/lang.js";
import { formatPercent } from "./pure/scale.js";
import { deviceName, modeName } from "./runpanel.js";

/** @import {Run} from "./runclient.js" */
/** @import {Spec} from "./pure/types.js" */
/** @typedef {Run & {created: number}} Listed */
/** @typedef {{title: (spec: Spec) => string, on: () => string[], add: (id: string) => void, only: (id: string) => void}} Acts  on: those
 *   on the timeline */

const MOST = 12;

/** @param {Acts} acts */
export function createRunList(acts) {
  const said = h("p", { class: "note", role: "status" });
  const rows = h("tbody");
  const table = h("table", { class: "run-list", hidden: true }, h("caption", { class: "visually-hidden", text: t("Earlier runs") }),
    h("thead", {}, h("tr", {}, ...[t("schedule"), t("mode"), t("device"), t("bubble"), t("when")].map((text) => h("th", { scope: "col", text })), h("td"))), rows);
  const node = h("details", { class: "run-more", ontoggle: () => refresh() }, h("summary", {}, t("Earlier runs on this server")), said, table);
  let asked = 0;

  async function refresh() {
    if (!node.open) return;
    const mine = ++asked;
    try {
      /** @type {{runs: Listed[]}} */
      const { runs } = await getJson(`/api/runs?limit=${MOST}`);
      if (mine !== asked) return;
      const over = runs.filter(({ status }) => status === "finished");
      setText(said, over.length ? "" : t("No run has finished here yet."));
      table.hidden = !over.length;
      replace(rows, ...over.map((run) => rowOf(run, acts)));
    } catch {
      if (mine === asked) setText(said, t("The server does not answer, so the list cannot be shown."));
    }
  }

  return { node, refresh };
}

/** @param {Listed} run @param {Acts} acts */
function rowOf(run, acts) {
  const { spec } = run;
  const title = acts.title(spec);
  const shown = acts.on().includes(run.id);
  const others = acts.on().length > 0;
  const bubble = run.measured?.bubble?.global?.of_total;
  const buttons = shown ? [h("span", { class: "run-on", text: t("on the timeline") })] : [
    h("button", { type: "button", class: "link", "data-run": run.id, onclick: () => acts.add(run.id), "aria-label": `${others ? t("Add") : t("Show")}: ${title}` }, others ? t("Add") : t("Show")),
    others ? h("button", { type: "button", class: "link", onclick: () => acts.only(run.id), "aria-label": `${t("Only this")}: ${title}` }, t("Only this")) : ""];
  return h("tr", {}, h("th", { scope: "row" }, run.mode === "imported" ? t("Imported trace") : title, h("small", { text: ` p ${spec.p} · m ${spec.m}${spec.v > 1 ? ` · v ${spec.v}` : ""}` })),
    h("td", { text: run.mode ? modeName(run.mode) : "–" }), h("td", { text: run.device ? deviceName(run.device) : "–" }), h("td", { class: "num", text: typeof bubble === "number" ? formatPercent(bubble) : "–" }),
    h("td", { text: new Date(run.created * 1000).toLocaleString(locale(), { dateStyle: "short", timeStyle: "short" }) }), h("td", { class: "run-acts" }, ...buttons));
}
