// The steps of the tour: a view each, and what to see in it. Figures in the texts come from the simulation.
import { t } from "../../core/i18n/language.ts";

/** Of each schedule on the screen. */
type Numbers = { bubble: string; memory: string }[];
type Step = {
  query: string;
  title: () => string;
  text: (numbers: Numbers) => string;
  at?: string; // the id of what the step is about, which is outlined
  play?: boolean; // the playhead sweeps once
};

export const STEPS: Step[] = [
  {
    query: "?family=gpipe&p=4&m=4&mem=0",
    title: () => t("A row is a device, a box is an op"),
    text: () =>
      t(
        "Four devices hold a quarter of the model each. Four micro-batches go forward (blue) from device 0 to 3, and " +
          "their gradients come back (vermilion). The number is the micro-batch; time runs to the right.",
      ),
    play: true,
  },
  {
    query: "?family=gpipe&p=4&m=4&mem=0",
    title: () => t("Grey is the bubble"),
    text: ([{ bubble }]) =>
      t(
        "A device that waits is wasted: {bubble} of the step here, (p - 1) / (m + p - 1). Hover or tap any grey area " +
          "to read what it waits for.",
        { bubble },
      ),
    at: "figures",
  },
  {
    query: "?family=gpipe&p=4&m=16&mem=1",
    title: () => t("More micro-batches, less bubble, more memory"),
    text: ([{ bubble, memory }]) =>
      t(
        "With m = 16 the bubble is {bubble}. But GPipe keeps every micro-batch's activations until its backward: the " +
          "grey strips over the rows rise to {memory}. Drag m and watch both.",
        { bubble, memory },
      ),
    at: "controls",
  },
  {
    query: "?family=gpipe&p=4&m=16&b.family=1f1b&mem=1",
    title: () => t("1F1B: the same bubble, memory p"),
    text: ([gpipe, second]) =>
      t(
        "1F1B begins a backward as soon as it can. Its bubble is GPipe's, {bubble}; its strips stay at {memory} " +
          "instead of {more}, so m can grow.",
        { bubble: second?.bubble ?? "–", memory: second?.memory ?? "–", more: gpipe.memory },
      ),
  },
  {
    query: "?family=1f1b&p=4&m=16&b.family=interleaved&b.v=2",
    title: () => t("Interleaving: half the bubble, more messages"),
    text: ([plain, second]) =>
      t(
        "Each device holds two chunks of half the size (light and dark), so the pipeline fills twice as fast: " +
          "{less} instead of {bubble}. Every micro-batch now crosses the devices twice.",
        { less: second?.bubble ?? "–", bubble: plain.bubble },
      ),
  },
  {
    query: "?family=1f1b&p=4&m=16&b.family=zb-h1",
    title: () => t("Zero bubble: let the weight gradient wait"),
    text: ([plain, second]) =>
      t(
        "The backward is split: the stage before needs I (orange) only, and W (green) fills what was bubble. {less} " +
          "instead of {bubble}, at the same memory.",
        { less: second?.bubble ?? "–", bubble: plain.bubble },
      ),
  },
  {
    query: "?family=1f1b&p=4&m=16&b.family=v-half&mem=1",
    title: () => t("Memory is a choice too"),
    text: ([plain, second]) =>
      t(
        "V-Half places two chunks on a V and holds {less} micro-batches where 1F1B holds {memory}: longer sequences " +
          "or a larger model then fit. See all of them under Compare.",
        { less: second?.memory ?? "–", memory: plain.memory },
      ),
    at: "drawer",
  },
  {
    query: "?family=1f1b&p=4&m=8&comm=0.4&crit=1",
    title: () => t("Ask why"),
    text: () =>
      t(
        "Messages take time now (Hop c = 0.4), and the critical path is drawn: the chain that makes the step as long " +
          "as it is. Select an op to see what it needs and what it unblocks; press / to find one.",
      ),
    at: "transport",
  },
  {
    query: "?family=1f1b&p=4&m=8",
    title: () => t("Now run it"),
    text: () =>
      t(
        "Run executes this very order with real tensors, one process a device, checks the gradients against a single " +
          "process, and draws what it measured under the plan.",
      ),
    at: "run",
  },
];
