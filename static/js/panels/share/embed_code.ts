// The code that puts a view into a page of any site: a frame as tall as its rows need.
import { h } from "../../ui/dom.ts";
import { t } from "../../core/i18n/language.ts";

export type Controls = "full" | "minimal" | "none";

/** px of everything but the rows: axis and line below; legend, playback and minimap where they are shown. */
const AROUND: Record<Controls, number> = { full: 164, minimal: 96, none: 56 };
const [ROW, TITLE, BETWEEN] = [28, 28, 12]; // px: of a rank, over a schedule, between two
/** px below which an embed leaves out its legend and minimap, as embed.css has it. */
const LEAST: Record<Controls, number> = { full: 360, minimal: 240, none: 200 };
const MOST = 1000;

/** How tall a frame is in which every row can be read. ranks: of each schedule. */
export function embedHeight(ranks: number[], controls: Controls = "full") {
  const rows = ranks.reduce((sum, p) => sum + TITLE + p * ROW, 0);
  return Math.max(LEAST[controls], Math.min(MOST, AROUND[controls] + rows + BETWEEN * (ranks.length - 1)));
}

/** Of the whole page only. */
const LEFT_OUT = ["tab", "families", "chart", "theme"];

/** The address of the frame. query: of the view. */
export function embedAddress(query: string, theme = "auto", controls: Controls = "full") {
  const kept = query
    .replace(/^\?/, "")
    .split("&")
    .filter((part) => part && !LEFT_OUT.includes(part.split("=")[0]));
  if (theme !== "auto") kept.push(`theme=${theme}`);
  if (controls !== "full") kept.push(`controls=${controls}`);
  return `${location.origin}/embed${kept.length ? `?${kept.join("&")}` : ""}`;
}

/** address: of the frame; width and height: as they are written. */
export const embedCode = (address: string, width: string, height: number) =>
  h("iframe", { src: address, title: t("Pipeline schedule"), width, height, loading: "lazy", allowfullscreen: true })
    .outerHTML;
