// Saves what the page made as a file of the reader's.
import { h } from "./dom.js";

const KEPT = 1000; // ms until a saved blob is freed: a browser reads it after the click

/** @param {string} name with its ending @param {string} href */
export function saveUrl(name, href) {
  h("a", { href, download: name }).click();
}

/** @param {string} name with its ending @param {Blob} blob */
export function saveBlob(name, blob) {
  const url = URL.createObjectURL(blob);
  saveUrl(name, url);
  setTimeout(() => URL.revokeObjectURL(url), KEPT);
}
