// What the words on the page mean, each with the paper it comes from where there is one, and a link to a view of it.
import { t } from "../../core/i18n/language.ts";
import type { PAPERS } from "../../core/explain/papers.ts";

export type Entry = {
  term: string;
  text: string;
  paper?: keyof typeof PAPERS;
  view?: string; // the query of a view that shows it
};

/** The terms, in the order in which one needs them. */
export const glossary = (): { title: string; entries: Entry[] }[] => [
  { title: t("A pipeline"), entries: pipeline() },
  { title: t("Time"), entries: time() },
  { title: t("Memory and messages"), entries: memory() },
  { title: t("Schedules"), entries: schedules() },
];

const pipeline = (): Entry[] => [
  {
    term: t("Device, rank (p)"),
    text: t("One GPU, or a group of GPUs that share tensor parallelism. A row of the timeline; there are p of them."),
  },
  {
    term: t("Stage"),
    text: t("Consecutive layers of the model that one device computes. Activations go from stage to stage."),
  },
  {
    term: t("Chunk (v)"),
    text: t("A device can hold v stages that are not neighbours. Each is a chunk; with one chunk v is 1."),
    paper: "megatron",
    view: "?family=interleaved&p=4&m=8&v=2",
  },
  {
    term: t("Micro-batch (m)"),
    text: t("A training step's batch is cut into m micro-batches, which follow each other through the stages."),
    paper: "gpipe",
  },
  {
    term: t("Forward F"),
    text: t("One stage computes one micro-batch's outputs and keeps the activations that the backward will need."),
  },
  {
    term: t("Backward B = I + W"),
    text: t("The gradients of one stage and one micro-batch. B takes about twice the time of F."),
  },
  {
    term: t("Input gradient I, weight gradient W"),
    text: t("The two halves of a backward. The stage before waits for I only; W can be done at any later time."),
    paper: "zero",
    view: "?family=zb-h1&p=4&m=8",
  },
];

const time = (): Entry[] => [
  {
    term: t("Bubble"),
    text: t(
      "The share of all devices' time, from the first start to the last end, in which they wait. Some papers divide " +
        "by the work instead, others take the busiest device's window: More figures has all four.",
    ),
  },
  {
    term: t("Step time"),
    text: t("From the start of the first op to the end of the last one; also called makespan."),
  },
  {
    term: t("Warm-up, steady state, cool-down"),
    text: t(
      "The pipeline fills, then works in a repeating pattern, then drains. Bubbles come from the first and last.",
    ),
    view: "?family=1f1b&p=4&m=16",
  },
  {
    term: t("Hop c"),
    text: t("The time a message takes from one device to the next, point to point (p2p)."),
    view: "?family=1f1b&p=4&m=8&comm=0.3&lane=comm",
  },
  {
    term: t("Critical path"),
    text: t("A chain of ops and messages without a gap that is as long as the step: only shortening it helps."),
    view: "?family=1f1b&p=4&m=8&crit=1",
  },
  {
    term: t("MFU"),
    text: t(
      "Model FLOP utilisation: the FLOP that the model needs, divided by what the devices could do in that time.",
    ),
    paper: "palm",
  },
  {
    term: t("Paced, free"),
    text: t(
      "A run's modes. Paced, each op lasts as long as the plan says, so that the schedule can be watched; free, each " +
        "op takes the time its tensors need.",
    ),
  },
];

const memory = (): Entry[] => [
  {
    term: t("In flight"),
    text: t("Micro-batches whose forward is done and whose backward is not: their activations take memory."),
    view: "?family=1f1b&p=4&m=8&mem=1",
  },
  {
    term: t("Recomputation"),
    text: t("Activations are dropped after the forward and computed again before the backward: time for memory."),
    paper: "recomputation",
    view: "?family=1f1b&p=4&m=8&recompute=full&mem=1",
  },
  {
    term: t("Offload"),
    text: t("Activations are copied to the host's memory after the forward and back before the backward."),
    paper: "offload",
    view: "?family=gis&p=4&m=8&offload=full",
  },
  {
    term: t("Vocabulary parallelism"),
    text: t(
      "The output layer is as heavy as several layers. Its weights are cut over all devices instead of the last.",
    ),
    paper: "vocabulary",
    view: "?family=1f1b&p=4&m=8&vocabulary=parallel-1",
  },
  {
    term: t("ZeRO 1 to 3"),
    text: t("Data-parallel replicas share optimizer state (1), gradients (2) and weights (3) instead of copying them."),
    paper: "zeroOptimizer",
  },
];

const schedules = (): Entry[] => [
  {
    term: "GPipe",
    text: t("All forwards, then all backwards: (p - 1) / (m + p - 1) of the step is bubble, m micro-batches are held."),
    paper: "gpipe",
    view: "?family=gpipe&p=4&m=8",
  },
  {
    term: "PipeDream",
    text: t("Never drains: each backward updates the weights at once, with several versions of them kept."),
    paper: "pipedream",
    view: "?family=pipedream&p=4&m=8",
  },
  {
    term: "1F1B",
    text: t("One forward, one backward in turn: the same bubble as GPipe, at most p micro-batches held."),
    paper: "flush",
    view: "?family=1f1b&p=4&m=8",
  },
  {
    term: t("Interleaved 1F1B"),
    text: t("v chunks on each device: about 1/v of the bubble for v times the messages and a little more."),
    paper: "megatron",
    view: "?family=interleaved&p=4&m=8",
  },
  {
    term: t("Looped breadth-first"),
    text: t("All micro-batches through one chunk before the next: fewer, larger phases for messages and gradients."),
    paper: "breadth",
    view: "?family=interleaved-bfs&p=4&m=8",
  },
  {
    term: t("Zero bubble: ZB-H1, ZB-H2"),
    text: t("W fills what was bubble. ZB-H1 keeps 1F1B's memory; ZB-H2 takes twice as much and leaves no gap."),
    paper: "zero",
    view: "?family=zb-h2&p=4&m=12",
  },
  {
    term: t("V-Min, V-Half, ZB-V"),
    text: t("Two chunks on each device, placed on a V: memory of a third, half or all of 1F1B's."),
    paper: "memory",
    view: "?family=v-half&p=4&m=12",
  },
  {
    term: "Chimera, DualPipe, DualPipeV",
    text: t("Micro-batches from both ends; a forward and a backward overlap to hide their messages."),
    paper: "deepseek",
    view: "?family=dualpipe&p=4&m=12",
  },
];
