// Opens the import dialog, whose script comes then, from a button or for files that are dropped anywhere on the page.
import { byId, h, show } from "../../ui/dom.ts";
import { t } from "../../core/i18n/language.ts";
import type { ImportDialog } from "./import_dialog.ts";

/** load: brings the dialog; fail: says that it did not come. Returns opens it: for a schedule's place or with files. */
export function createImport(
  load: () => Promise<ImportDialog>,
  fail: (text: string) => void,
): (at?: number | null, files?: File[]) => void {
  let dialog: Promise<ImportDialog> | null = null;
  const open = async (at: number | null = null, files: File[] = []) => {
    try {
      (await (dialog ??= load())).open(at, files);
    } catch {
      dialog = null; // tried again at the next click
      fail(t("The server does not answer."));
    }
  };
  listenToDrops((files) => open(null, files));
  return open;
}

/** Files may be dropped anywhere on the page; elsewhere the browser would leave it. */
function listenToDrops(take: (files: File[]) => void) {
  const hint = h("div.drop-hint", { hidden: true }, h("strong", { text: t("Drop an order or a trace") }));
  byId("stage").append(hint);
  let timer = 0;
  window.addEventListener("dragover", (event) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = "copy";
    show(hint, true);
    clearTimeout(timer); // dragover comes again and again while a file hangs over the page
    timer = window.setTimeout(() => show(hint, false), 300);
  });
  window.addEventListener("drop", (event) => {
    if (!event.dataTransfer?.files.length) return;
    event.preventDefault();
    show(hint, false);
    take([...event.dataTransfer.files]);
  });
}
