// A paper as a link: by its title, or by the arXiv number in the text of a source.
import { PAPERS } from "../core/explain/papers.ts";
import { h } from "./dom.ts";

export function paperLink(key: keyof typeof PAPERS) {
  const { title, doi } = PAPERS[key];
  return h("a", { href: `https://doi.org/${doi}`, target: "_blank", rel: "noopener", lang: "en", text: title });
}

/** The text of a source, with its arXiv number as a link. */
export function sourceNodes(text: string) {
  const found = /arXiv (\d{4}\.\d{4,5})/.exec(text);
  if (!found) return [text];
  const [named, number] = found;
  const href = `https://doi.org/10.48550/arXiv.${number}`;
  return [
    text.slice(0, found.index),
    h("a", { href, target: "_blank", rel: "noopener", text: named }),
    text.slice(found.index + named.length),
  ];
}
