// What is said of where the ranks of a run were: hosts, how far apart neighbours were, and how well the hosts' clocks
// agree.
import { hopTime, latencyRange, micros, ranksByHost, ranksText } from "../../core/measured/cluster.js";
import { t } from "../../core/i18n/language.js";
import { formatNumber } from "../../core/i18n/numbers.js";

/** @import {Run} from "../../data/runs/client.js" */
/** @import {Add} from "./facts.js" */

/** @param {Run} run @param {Add} add */
export function hostFacts({ hosts, clocks, links, asked, unit_ms: unit }, add) {
  const homes = hosts?.length ? ranksByHost(hosts) : [];
  if (homes.length)
    add(t("Ranks on hosts"), homes.map(({ host, ranks }) => `${host}: ${ranksText(ranks)}`).join(" · "));
  if (links?.length) {
    const hop = asked?.hops === "measured" ? hopTime(links, unit) : null;
    add(
      t("Hops between neighbours"),
      latencyRange(links),
      hop === null ? "" : t("the plan's hop is the longest, {n}", { n: formatNumber(hop) }),
    );
  }
  if (clocks?.length && homes.length > 1)
    add(
      t("Clocks agree within"),
      `±${micros(Math.max(...clocks.map(({ uncertainty_ns: off }) => off)))} µs`,
      t("{n} hosts", { n: homes.length }),
    );
}

/** How many hosts a run was on, where they are several. @param {Pick<Run, "hosts">} run */
export function hostCount({ hosts }) {
  const n = new Set(hosts ?? []).size;
  return n > 1 ? t("{n} hosts", { n }) : "";
}
