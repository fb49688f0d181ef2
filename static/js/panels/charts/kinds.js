// The kinds of charts: name, description in a line, and data source of each. Draws no figure.
import { t } from "../../core/i18n/language.js";

/**
 * @typedef {object} Kind
 * @property {string} id
 * @property {string} title
 * @property {string} short  its name under its group's
 * @property {string} says    the description in a line
 * @property {[string, string][]} heights  its variants, the first by itself
 * @property {[string, string][]} [withModel]  more variants with a model and a machine, which it then uses
 * @property {boolean} [others]  it draws all schedules on the screen
 * @property {boolean} [model]   it uses the model and the machine of the costs
 * @property {boolean} [local]   the page draws it itself
 * @property {boolean} [searched]  its answer comes in two parts, the second from searches
 */
/** @typedef {{title: string, kinds: Kind[]}} Group */

/** @returns {[string, string][]} */
const bubbles = () => [
  ["global", t("Whole step, share of time")],
  ["span", t("Busiest device's window, share of time")],
  ["global-ideal", t("Whole step, against work")],
  ["span-ideal", t("Busiest device's window, against work")],
];

/** In the reader's language. @returns {Group[]} */
export const groups = () => [
  {
    title: t("Bubble"),
    kinds: [
      {
        id: "bubble",
        title: t("Bubble over p and m"),
        short: t("Over p and m"),
        says: t("one family at every size"),
        heights: bubbles(),
      },
      {
        id: "bubble-m",
        title: t("Bubble against m"),
        short: t("Against m"),
        says: t("all families, more and more micro-batches"),
        heights: bubbles(),
        others: true,
      },
      {
        id: "split",
        title: t("Useful and wasted time"),
        short: t("Useful and wasted"),
        says: t("where every rank's time goes"),
        heights: [],
        others: true,
      },
    ],
  },
  {
    title: t("Memory"),
    kinds: [
      {
        id: "pareto",
        title: t("Memory against throughput"),
        short: t("Against throughput"),
        says: t("which schedule is best at which memory"),
        heights: [
          ["throughput", t("Throughput")],
          ["bubble", t("Bubble")],
        ],
        withModel: [
          ["mfu", t("MFU against memory")],
          ["mfu-activations", t("MFU against activations")],
          ["tokens", t("Tokens per second against memory")],
        ],
        searched: true,
      },
      {
        id: "memory",
        title: t("Memory over time"),
        short: t("Over time"),
        says: t("activations that each rank holds"),
        heights: [],
        others: true,
      },
      {
        id: "offload",
        title: t("Offload: k against hidden size and sequence"),
        short: t("Offload: k"),
        says: t("when copies to host memory are free"),
        heights: [
          ["guide", t("Guide's rates")],
          ["machine", t("This machine")],
        ],
        model: true,
      },
    ],
  },
  {
    title: t("Work and messages"),
    kinds: [
      {
        id: "cube",
        title: t("Stage, micro-batch and time"),
        short: t("Cube"),
        says: t("the schedule in space, with the playhead as a plane"),
        heights: [],
        local: true,
      },
      {
        id: "messages",
        title: t("Messages against v"),
        short: t("Messages"),
        says: t("what more chunks cost in communication"),
        heights: [],
        others: true,
        model: true,
      },
      {
        id: "vocabulary",
        title: t("Output layer of known models"),
        short: t("Output layer"),
        says: t("how many transformer layers it weighs"),
        heights: [],
        model: true,
      },
    ],
  },
];

/** The one that is shown where a link names none. */
export const FIRST = "pareto";

/** @param {string} id @returns {Kind} the first where there is none of that name */
export function kindOf(id) {
  const all = groups().flatMap(({ kinds }) => kinds);
  return all.find((each) => each.id === id) ?? /** @type {Kind} */ (all.find((each) => each.id === FIRST));
}
