// Part of the share dialog: code that puts the timeline into somebody's own page, with a look at what it gives.
import { h, replace, setText } from "../../ui/dom.ts";
import { optionNodes, type Choice } from "../../ui/fields/choices.ts";
import { t } from "../../core/i18n/language.ts";
import { linkRow } from "../../ui/fields/link_row.ts";
import type { Store } from "../../data/store.ts";

const REST = 250; // ms until what was chosen is loaded
/** Of the whole page only. */
const LEFT_OUT = ["tab", "families", "chart", "theme"];
/** The width of the frame as it is written, and its height. */
const SIZES: Record<string, [string, number]> = {
  wide: ["100%", 420],
  slide: ["960", 540],
  column: ["640", 360],
  small: ["320", 240],
};

/** The address of the frame. query: of the view. */
function embedAddress(query: string, theme: string, controls: string) {
  const kept = query
    .replace(/^\?/, "")
    .split("&")
    .filter((part) => part && !LEFT_OUT.includes(part.split("=")[0]));
  if (theme !== "auto") kept.push(`theme=${theme}`);
  if (controls !== "full") kept.push(`controls=${controls}`);
  return `${location.origin}/embed${kept.length ? `?${kept.join("&")}` : ""}`;
}

const quoted = (text: string) => text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");

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
    ["wide", t("full width")],
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
    const [width, height] = SIZES[size.value()];
    const address = embedAddress(store.search(), theme.value(), controls.value());
    code.set(
      `<iframe src="${quoted(address)}" title="${quoted(t("Pipeline schedule"))}" width="${width}" ` +
        `height="${height}" loading="lazy" allowfullscreen></iframe>`,
    );
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
