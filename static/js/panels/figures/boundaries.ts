// "What crosses the boundaries", a closed section beside the formulas: messages and bytes between stages, why more
// chunks send more, and which gradients are summed. Each fact has its source.
import { costsPath, known } from "../../data/costs/api.ts";
import { h, isNew, replace, show } from "../../ui/dom.ts";
import { isOutOfDate, type Plan } from "../../data/plan.ts";
import { t } from "../../core/i18n/language.ts";
import { formatBytes, formatNumber } from "../../core/i18n/numbers.ts";
import { crossings, type Crossings } from "../../core/explain/boundaries.ts";
import { paperLink } from "../../ui/paper_link.ts";
import type { Plans } from "../../data/plans.ts";
import type { PAPERS } from "../../core/explain/papers.ts";

/** Bytes of a message, and of each device's gradients. */
type Sizes = { message: number; gradients: number[] };

export function createBoundaries(plans: Plans) {
  const body = h("div.facts");
  const node = h(
    "details#boundaries.more-figures",
    { hidden: true },
    h("summary", { text: t("What crosses the boundaries") }),
    body,
  );
  return {
    node,
    show() {
      const titles = plans.titles();
      const shown = plans.onScreen().flatMap((plan, at) => (plan.schedule && plan.shown ? [{ plan, at }] : []));
      show(node, shown.length > 0);
      const found = shown.map(({ plan, at }) => facts(plan, plans, shown.length > 1 ? titles[at] : null));
      if (!isNew(node, found)) return;
      replace(body, ...found.flatMap(draw));
    },
  };
}

type Fact = { text: string; source?: keyof typeof PAPERS };
type Facts = { title: string | null; list: Fact[]; old: boolean };

const draw = ({ title, list, old }: Facts) => [
  title === null ? null : h("h3", { text: title }),
  old ? h("p.footnote.source", { text: t("of the last valid schedule") }) : null,
  ...list.map(({ text, source }) => h("p.meaning", text, source ? h("span.cite", " ", paperLink(source)) : null)),
];

function facts(plan: Plan, plans: Plans, title: string | null): Facts {
  const { schedule, shown } = plan;
  if (!schedule || !shown) return { title: null, list: [], old: false };
  const found = crossings(schedule);
  const sizes = sizesOf(plans, plan);
  return {
    title,
    list: [...messageFacts(found, sizes), ...chunkFacts(found, schedule.p, schedule.v), ...gradientFacts(found, sizes)],
    old: isOutOfDate(plan),
  };
}

/** What a chosen model's messages and gradients measure; null without a model. */
function sizesOf(plans: Plans, { shown }: Plan): Sizes | null {
  const { preset } = plans.store.get();
  const bytes = preset && shown ? known(costsPath(preset, shown))?.bytes : null;
  return bytes ? { message: bytes.message, gradients: bytes.gradients ?? [] } : null;
}

function messageFacts({ m, ways, crossing }: Crossings, sizes: Sizes | null): Fact[] {
  if (crossing === 0) return [{ text: t("One device: nothing crosses a boundary.") }];
  const way =
    ways === 1
      ? t("Each boundary between two devices takes m = {m} messages per step: the activations of every micro-batch.", {
          m,
        })
      : t(
          "Each boundary between two devices takes m = {m} messages per step in each direction (not m + p − 1, which " +
            "counts time slots): activations forward, gradients back.",
          { m },
        );
  const bytes = sizes
    ? t("One is 2·b·s·h = {each}, so {all} per step and direction.", {
        each: formatBytes(sizes.message),
        all: formatBytes(m * sizes.message),
      })
    : t("One is 2·b·s·h bytes in 16-bit precision; choose a model to see how many.");
  return [{ text: [way, bytes].join(t(" ")), source: "megatron" }];
}

function chunkFacts({ crossing, turns, wraps, perMicro, line, ways }: Crossings, p: number, v: number): Fact[] {
  if (wraps > 0) {
    const ratio = formatNumber(Number((perMicro / line).toPrecision(3)));
    const [all, one, back] =
      ways === 2
        ? [`2(pv − 1) = ${perMicro}`, `2(p − 1) = ${line}`, `2(v − 1) = ${ways * wraps}`]
        : [`pv − 1 = ${perMicro}`, `p − 1 = ${line}`, `v − 1 = ${wraps}`];
    return [
      {
        text: t(
          "A micro-batch takes {all} messages, where one chunk per device takes {one}: {ratio} times as many, more " +
            "than v = {v}, because {back} of them link the last device with the first, from one chunk to the next.",
          { all, one, ratio, v, back },
        ),
        source: "megatron",
      },
    ];
  }
  if (turns > 0 && crossing > 0)
    return [
      {
        text: t(
          "A micro-batch takes {n} messages over {boundaries} boundaries: {turns} of these lie between two stages of " +
            "one device, where the V turns, and take none. One chunk per device takes {line}.",
          { n: perMicro, boundaries: crossing + turns, turns, line },
        ),
        source: "memory",
      },
    ];
  return p > 1 ? [{ text: t("A micro-batch takes {n} messages.", { n: perMicro }) }] : [];
}

function gradientFacts({ ways, replicas, barriers }: Crossings, sizes: Sizes | null): Fact[] {
  const out: Fact[] = [];
  if (ways === 1) out.push({ text: t("Forward only: there are no gradients to send or to sum.") });
  else if (replicas) {
    const bytes = sizes ? replicas.reduce((sum, rank) => sum + (sizes.gradients[rank] ?? 0), 0) : 0;
    out.push({
      text: [
        t(
          "Every stage is on two devices, such as {one} and {other}, which sum its gradients once per step: an " +
            "all-reduce between replicas.",
          { one: replicas[0], other: replicas[1] },
        ),
        bytes ? t("Each device sums {bytes} of gradients.", { bytes: formatBytes(bytes) }) : "",
      ]
        .filter(Boolean)
        .join(t(" ")),
      source: "deepseek",
    });
  } else
    out.push({
      text: t(
        "Gradients are not all-reduced between stages: each stage has its own parameters. Only data-parallel " +
          "replicas of one stage sum theirs.",
      ),
      source: "megatron",
    });
  if (barriers > 0)
    out.push({
      text: t(
        "The output layer is sharded: each micro-batch also takes a broadcast of the last stage's output and {n} " +
          "over all devices.",
        { n: barriers === 1 ? t("one all-reduce") : t("two all-reduces") },
      ),
      source: "vocabulary",
    });
  return out;
}
