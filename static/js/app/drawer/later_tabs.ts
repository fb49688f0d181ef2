// The tabs that are not there when the page begins, and the import dialog: one script, which comes when one is opened.
import { createBlock } from "../../panels/block/block.ts";
import { createCharts } from "../../panels/charts/charts.ts";
import { createPlan } from "../../panels/charts/plan/plan.ts";
import { createCompare } from "../../panels/compare/compare.ts";
import { createDiagnosis } from "../../panels/diagnosis/diagnosis.ts";
import { createExport } from "../../panels/export/export_panel.ts";
import type { PageView } from "../page_view.ts";
import type { Panel } from "./drawer.ts";

export { ImportDialog } from "../../panels/import/import_dialog.ts";

export type LaterTab = "compare" | "charts" | "plan" | "block" | "diagnosis" | "export";

/** share: opens its dialog. */
export function createTab(id: LaterTab, page: PageView, share: () => void): Panel {
  const { store, plans, timeline, playback, runs, runTab, unitsOf, diagnoses } = page;
  const openImport = () => page.openImport();
  switch (id) {
    case "compare":
      return createCompare({
        ...{ store, plans, unitsOf, openImport, addSchedule: page.toolbar.addSchedule },
        measured: () => runs.measured(),
        runAll: () => runTab.startAll(),
      });
    case "charts":
      return createCharts({ store, plans, playback });
    case "plan":
      return createPlan({ store, plans, unitsOf, reveal: page.costs.reveal });
    case "block":
      return createBlock({ store, plans });
    case "diagnosis":
      return createDiagnosis({ store, diagnoses, openImport, lanes: () => timeline.lanes });
    case "export":
      return createExport({ store, plans, timeline, share });
  }
}
