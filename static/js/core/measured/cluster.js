// Figures of a cluster's hosts and links: free and busy cores, ranks by host, latencies.
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
 *   string}} Cluster as the server sends it
 */

const DIGITS = 4; // of a measured cost, to keep links short

/** Ranks may share a core, so that parts of it are in use. @param {number} n */
const rounded = (n) => Math.round(n * 100) / 100;

/** How many of a resource are in use. @param {Room | undefined} room */
export const busyOf = (room) => (room ? rounded(Math.max(0, Math.min(room.total, room.total - room.free))) : 0);

/**
 * The sum of a resource over the hosts that are alive.
 * @param {Host[]} hosts
 * @param {"cpus" | "gpus"} what
 * @returns {Room}
 */
export function roomOf(hosts, what) {
  const alive = hosts.filter((host) => host.alive);
  const sum = (/** @type {"total" | "free"} */ part) =>
    alive.reduce((all, host) => all + Math.max(0, host[what]?.[part] ?? 0), 0);
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
 * "182 (+9) µs": the minimum, and how much longer the median was.
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
 * The longest measured hop in units of the costs; null where the links or the unit are unknown.
 * @param {Link[] | null | undefined} links
 * @param {number | null | undefined} unit ms that one unit of the costs lasted
 */
export function hopTime(links, unit) {
  if (!links?.length || !unit) return null;
  return Number((Math.max(...links.map(({ latency_ns: latency }) => latency)) / (unit * 1e6)).toPrecision(DIGITS));
}

/**
 * The hosts that are alive as a text: when it changes, so do the devices.
 * @param {Cluster | null} cluster
 */
export const membersOf = (cluster) =>
  [cluster?.state ?? "", ...(cluster?.hosts ?? []).filter(({ alive }) => alive).map(({ name }) => name)].join();
