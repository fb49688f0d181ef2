// The kinds of charts: name, description in a line, and data source of each. Draws no figure.
import { t } from "../../core/i18n/language.ts";

export type Kind = {
  id: string;
  title: string;
  short: string; // its name under its group's
  says: string; // the description in a line
  heights: [string, string][]; // its variants, the first by itself
  withModel?: [string, string][]; // more variants with a model and a machine, which it then uses
  others?: boolean; // it draws all schedules on the screen
  model?: boolean; // it uses the model and the machine of the costs
  local?: boolean; // the page draws it itself
  searched?: boolean; // its answer comes in two parts, the second from searches
};
type Group = { title: string; kinds: Kind[] };

const bubbles = (): [string, string][] => [
  ["global", t("Whole step, share of time")],
  ["span", t("Busiest device's window, share of time")],
  ["global-ideal", t("Whole step, against work")],
  ["span-ideal", t("Busiest device's window, against work")],
];

/** In the reader's language. */
export const groups = (): Group[] => [
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

/** Returns the first where there is none of that name. */
export function kindOf(id: string): Kind {
  const all = groups().flatMap(({ kinds }) => kinds);
  return all.find((each) => each.id === id) ?? (all.find((each) => each.id === FIRST) as Kind);
}
