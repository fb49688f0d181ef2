// Part of the share dialog: code that puts the timeline into somebody's own page, with a look at what it gives.
import { h, replace, setText } from "../../ui/dom.ts";
import { optionNodes, type Choice } from "../../ui/fields/choices.ts";
import { t } from "../../core/i18n/language.ts";
import { linkRow } from "../../ui/fields/link_row.ts";
import { embedAddress, embedCode, embedHeight, type Controls } from "./embed_code.ts";
import type { Store } from "../../data/store.ts";

const REST = 250; // ms until what was chosen is loaded
/** The width of the frame as it is written, and its height; null: as its rows need. */
const SIZES: Record<string, [string, number | null]> = {
  wide: ["100%", null],
  slide: ["960", 540],
  column: ["640", 360],
  small: ["320", 240],
};

export function createEmbedPart(store: Store) {
  const status = h("p.share-status", { role: "status" });
  const code = linkRow("share-embed", t("Code for your page"), status, true);
  const theme = choice("share-theme", t("Theme"), [
    ["auto", t("as the reader's system")],
    ["light", t("light")],
    ["dark", t("dark")],
  ]);
  const controls = choice("share-controls", t("Controls"), [
    ["full", t("all")],
    ["minimal", t("play and scrub")],
    ["none", t("none")],
  ]);
  const size = choice("share-size", t("Size"), [
    ["wide", t("full width, as tall as its rows need")],
    ["slide", "960 × 540"],
    ["column", "640 × 360"],
    ["small", "320 × 240"],
  ]);
  const frame = h("div.share-frame", { tabindex: 0, role: "group", "aria-label": t("Preview of the embed") });
  const node = h(
    "details#share-embed-part.share-more",
    h("summary", { text: t("Embed in a page") }),
    h("div.share-choices", theme.node, controls.node, size.node),
    frame,
    code.node,
    status,
    h(
      "p.muted.share-text",
      t("Or one element, with one script and no server:"),
      " ",
      h("a", { href: "/component", target: "_blank" }, h("code", { text: "<bubble-line>" })),
    ),
  );

  let timer = 0;

  function write() {
    if (!node.open) return;
    const { spec, others } = store.get();
    const shown = controls.value() as Controls;
    const [width, fixed] = SIZES[size.value()];
    const height = fixed ?? embedHeight([spec, ...others].map(({ p }) => p), shown); // prettier-ignore
    const address = embedAddress(store.search(), theme.value(), shown);
    code.set(embedCode(address, width, height));
    setText(status, "");
    clearTimeout(timer);
    timer = window.setTimeout(
      () => replace(frame, h("iframe", { src: address, title: t("Pipeline schedule"), width, height })),
      REST,
    );
  }

  node.addEventListener("toggle", write);
  for (const each of [theme, controls, size]) each.node.addEventListener("change", write);
  return {
    node,
    reset() {
      node.open = false;
      clearTimeout(timer);
      replace(frame);
    },
  };
}

function choice(id: string, label: string, options: Choice[]) {
  const box = h("select", { id }, ...optionNodes(options));
  return { node: h("label", h("span", { text: label }), box), value: () => box.value };
}
