// A paper's title as a link.
import { PAPERS } from "../core/explain/papers.js";
import { h } from "./dom.js";

/** @param {keyof typeof PAPERS} key */
export function paperLink(key) {
  const { title, doi } = PAPERS[key];
  return h("a", { href: `https://doi.org/${doi}`, target: "_blank", rel: "noopener", lang: "en", text: title });
}
