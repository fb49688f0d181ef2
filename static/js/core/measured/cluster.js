// What is said of a cluster's hosts and links, worked out of what the server tells: who sits where, how far apart, how
// busy.
import { t } from "../i18n/language.js";
import { formatNumber } from "../i18n/numbers.js";

/** @typedef {{total: number, free: number}} Room */
/**
 * @typedef {{name: string, address: string, alive: boolean, head: boolean, cpus: Room, gpus: Room, memory: Room, ranks:
 *   number[], why?: string}} Host memory in bytes; ranks: those of the present run, or the last one; why it is lost
 */
/**
 * @typedef {{from: number, to: number, hosts?: string[], latency_ns: number, uncertainty_ns: number}} Link between
 *   ranks; one way
 */
/**
 * @typedef {{host: string, offset_ns: number, drift_ppm: number, uncertainty_ns: number}} Clock of a host, beside the
 *   one that leads the run
 */
/**
 * @typedef {{engine: string, address?: string, state?: string, why?: string, hosts?: Host[], links?: Link[], waiting?:
 *   string}} Cluster as the server tells it
 */

const DIGITS = 4; // of a measured cost, which a link of the page then holds

/** Ranks may share a core, so that parts of it are in use. @param {number} n */
const rounded = (n) => Math.round(n * 100) / 100;

/** How much of something is in use. @param {Room | undefined} room */
export const busyOf = (room) => (room ? rounded(Math.max(0, Math.min(room.total, room.total - room.free))) : 0);

/**
 * What all hosts that are there have of something.
 * @param {Host[]} hosts
 * @param {"cpus" | "gpus"} what
 * @returns {Room}
 */
export function roomOf(hosts, what) {
  const there = hosts.filter(({ alive }) => alive);
  const sum = (/** @type {"total" | "free"} */ part) =>
    there.reduce((all, host) => all + Math.max(0, host[what]?.[part] ?? 0), 0);
  return { total: rounded(sum("total")), free: rounded(sum("free")) };
}

/** The ranks of a run by host, hosts in the order of their first rank. @param {string[]} hosts the host of each rank */
export function ranksByHost(hosts) {
  /** @type {Map<string, number[]>} */
  const found = new Map();
  hosts.forEach((host, rank) => found.set(host, [...(found.get(host) ?? []), rank]));
  return [...found].map(([host, ranks]) => ({ host, ranks }));
}

/** Ranks as they are listed: "0–3, 6". @param {number[]} ranks ascending */
export function ranksText(ranks) {
  /** @type {number[][]} */
  const runs = [];
  for (const rank of ranks) {
    const last = runs.at(-1);
    if (last && last[1] === rank - 1) last[1] = rank;
    else runs.push([rank, rank]);
  }
  return runs
    .map(([from, to]) => (from === to ? String(from) : to === from + 1 ? `${from}, ${to}` : `${from}–${to}`))
    .join(", ");
}

/** ns as µs, in three digits. @param {number} ns */
export const micros = (ns) => formatNumber(Number((ns / 1e3).toPrecision(3)));

/**
 * "182 (+9) µs": the quickest way that was seen, and how much longer the middle one took.
 * @param {Pick<Link, "latency_ns" | "uncertainty_ns">} link
 */
export const latencyText = ({ latency_ns: latency, uncertainty_ns: off }) =>
  `${micros(latency)}${off > 0 ? ` (+${micros(off)})` : ""} µs`;

/** "38.5 to 182 µs" @param {Link[]} links at least one */
export function latencyRange(links) {
  const all = links.map(({ latency_ns: latency }) => latency);
  const [least, most] = [micros(Math.min(...all)), micros(Math.max(...all))];
  return least === most ? `${least} µs` : t("{least} to {most} µs", { least, most });
}

/**
 * How long one hop of the plan is where it is as long as the longest that was measured, in units of the costs; null
 * where that cannot be said.
 * @param {Link[] | null | undefined} links
 * @param {number | null | undefined} unit ms that one unit of the costs lasted
 */
export function hopTime(links, unit) {
  if (!links?.length || !unit) return null;
  return Number((Math.max(...links.map(({ latency_ns: latency }) => latency)) / (unit * 1e6)).toPrecision(DIGITS));
}

/**
 * The hosts that are there, in short: another text means that there is something else to run on.
 * @param {Cluster | null} told
 */
export const membersOf = (told) =>
  [told?.state ?? "", ...(told?.hosts ?? []).filter(({ alive }) => alive).map(({ name }) => name)].join();
