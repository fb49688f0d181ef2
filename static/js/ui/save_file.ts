// Saves what the page made as a file of the reader's.
import { context, h } from "./dom.ts";

const SHARP = 3; // pixels of a PNG for each of the picture's
const MOST_PIXELS = 16_000; // of a PNG's side; browsers draw no larger canvas
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

/** Draw an SVG document of this size in px. name: with its ending. */
export async function savePng(name: string, svg: string, width: number, height: number, sharpest = SHARP) {
  const sharp = Math.min(sharpest, MOST_PIXELS / Math.max(width, height));
  const address = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  const image = new Image(width, height);
  image.src = address;
  await image.decode();
  const canvas = h("canvas", { width: Math.round(width * sharp), height: Math.round(height * sharp) });
  context(canvas).drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(address);
  canvas.toBlob((blob) => {
    if (blob) saveBlob(name, blob);
  });
}
