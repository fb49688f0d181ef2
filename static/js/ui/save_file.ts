// Saves what the page made as a file of the reader's.
import { h } from "./dom.ts";

const KEPT = 1000; // ms until a saved blob is freed: a browser reads it after the click

/** name: with its ending. */
export function saveUrl(name: string, href: string) {
  h("a", { href, download: name }).click();
}

/** name: with its ending. */
export function saveBlob(name: string, blob: Blob) {
  const url = URL.createObjectURL(blob);
  saveUrl(name, url);
  setTimeout(() => URL.revokeObjectURL(url), KEPT);
}
