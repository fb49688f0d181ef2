// Figures of a cluster's hosts and links: free and busy cores, ranks by host, latencies.
import { t } from "../i18n/language.ts";
import { formatNumber } from "../i18n/numbers.ts";

export type Room = { total: number; free: number };
/** Memory in bytes. */
export type Host = {
  name: string;
  address: string;
  alive: boolean;
  head: boolean;
  cpus: Room;
  gpus: Room;
  memory: Room;
  ranks: number[]; // those of the present run, or the last one; why it is lost
  why?: string;
};
/** Between ranks; one way. */
export type Link = { from: number; to: number; hosts?: string[]; latency_ns: number; uncertainty_ns: number };
/** Of a host, beside the one that leads the run. */
export type Clock = { host: string; offset_ns: number; drift_ppm: number; uncertainty_ns: number };
/** As the server sends it. */
export type Cluster = {
  engine: string;
  address?: string;
  state?: string;
  why?: string;
  hosts?: Host[];
  links?: Link[];
  waiting?: string;
};

const DIGITS = 4; // of a measured cost, to keep links short

/** Ranks may share a core, so that parts of it are in use. */
const rounded = (n: number) => Math.round(n * 100) / 100;

/** How many of a resource are in use. */
export const busyOf = (room: Room | undefined) =>
  room ? rounded(Math.max(0, Math.min(room.total, room.total - room.free))) : 0;

/** The sum of a resource over the hosts that are alive. */
export function roomOf(hosts: Host[], what: "cpus" | "gpus"): Room {
  const alive = hosts.filter((host) => host.alive);
  const sum = (part: "total" | "free") => alive.reduce((all, host) => all + Math.max(0, host[what]?.[part] ?? 0), 0);
  return { total: rounded(sum("total")), free: rounded(sum("free")) };
}

/** The ranks of a run by host, hosts in the order of their first rank. hosts: the host of each rank. */
export function ranksByHost(hosts: string[]) {
  const found = new Map<string, number[]>();
  hosts.forEach((host, rank) => found.set(host, [...(found.get(host) ?? []), rank]));
  return [...found].map(([host, ranks]) => ({ host, ranks }));
}

/** Ranks as they are listed: "0–3, 6". ranks: ascending. */
export function ranksText(ranks: number[]) {
  const runs: number[][] = [];
  for (const rank of ranks) {
    const last = runs.at(-1);
    if (last && last[1] === rank - 1) last[1] = rank;
    else runs.push([rank, rank]);
  }
  return runs
    .map(([from, to]) => (from === to ? String(from) : to === from + 1 ? `${from}, ${to}` : `${from}–${to}`))
    .join(", ");
}

/** Ns as µs, in three digits. */
export const micros = (ns: number) => formatNumber(Number((ns / 1e3).toPrecision(3)));

/** "182 (+9) µs": the minimum, and how much longer the median was. */
export const latencyText = ({
  latency_ns: latency,
  uncertainty_ns: off,
}: Pick<Link, "latency_ns" | "uncertainty_ns">) => `${micros(latency)}${off > 0 ? ` (+${micros(off)})` : ""} µs`;

/** "38.5 to 182 µs". links: at least one. */
export function latencyRange(links: Link[]) {
  const all = links.map(({ latency_ns: latency }) => latency);
  const [least, most] = [micros(Math.min(...all)), micros(Math.max(...all))];
  return least === most ? `${least} µs` : t("{least} to {most} µs", { least, most });
}

/**
 * The longest measured hop in units of the costs; null where the links or the unit are unknown. unit: ms that one unit
 * of the costs lasted.
 */
export function hopTime(links: Link[] | null | undefined, unit: number | null | undefined) {
  if (!links?.length || !unit) return null;
  return Number((Math.max(...links.map(({ latency_ns: latency }) => latency)) / (unit * 1e6)).toPrecision(DIGITS));
}

/** The hosts that are alive as a text: when it changes, so do the devices. */
export const membersOf = (cluster: Cluster | null) =>
  [cluster?.state ?? "", ...(cluster?.hosts ?? []).filter(({ alive }) => alive).map(({ name }) => name)].join();
