// What a chart asks the server: of which schedules, model and machine it is, and how it is to look. Knows no panel.
import { evenly } from "../../data/costs/api.js";
import { isDark } from "../../ui/appearance.js";
import { presetEntries } from "../../core/state/link_preset.js";
import { IDS } from "../../core/state/schedules.js";
import { specQuery } from "../../core/state/link.js";

/** @import {Kind} from "./kinds.js" */
/** @import {State} from "../../core/state/link.js" */
/** @import {Spec} from "../../core/schedule/types.js" */

const STEP = 20; // px; a figure is asked for in such sizes, so that answers can be kept
const LEAST = { width: 260, height: 240 };

/** What is drawn. @param {Kind} kind @param {State} state @param {Spec} defaults */
export function questionOf(kind, { spec, others, preset, origin }, defaults) {
  const parts = kind.others ? others.flatMap((other, at) => keys(specQuery(other, defaults), `${IDS[at + 1]}.`)) : [];
  const source = preset ?? origin ?? null;
  const model =
    kind.model && source
      ? presetEntries(evenly(source), false).map(([key, text]) => `m.${key}=${encodeURIComponent(text)}`)
      : [];
  return `/api/charts/${kind.id}${[specQuery(spec, defaults), ...parts, ...model].join("&")}`;
}

/** @param {string} query with its "?" @param {string} prefix */
const keys = (query, prefix) =>
  query
    .slice(1)
    .split("&")
    .map((part) => prefix + part);

/**
 * And how it looks.
 * @param {string} what
 * @param {string} y
 * @param {State["view"]} view
 * @param {{width: number, height: number}} size
 */
export function withLook(what, y, { theme, colours }, size) {
  const look = {
    ...(y ? { y } : {}),
    theme: (isDark(theme) ? "dark" : "light") + (colours ? `-${colours}` : ""),
    width: String(inSteps(size.width, LEAST.width)),
    height: String(inSteps(size.height, LEAST.height)),
  };
  return `${what}&${new URLSearchParams(look)}`;
}

/** @param {number} px @param {number} least */
const inSteps = (px, least) => STEP * Math.floor(Math.max(px, least) / STEP);
