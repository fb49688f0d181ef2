// The figure of training plans, in plotly's JSON: the time of a step over the memory of a device, the frontier through
// the fastest at each memory, the device's limit as a line, and a ring around the schedule on the screen.
import { t } from "../i18n/language.ts";
import { formatNumber } from "../i18n/numbers.ts";
import { stepSeconds, type TrainingPlan } from "./training_plans.ts";

export type Paint = {
  ink: string;
  "ink-2": string;
  "ink-3": string;
  line: string;
  "plot-grid": string;
  raised: string;
  accent: string;
  bad: string;
  groups: Record<string, string>; // by the name of a group
  font: string;
};
type Shown = {
  plans: TrainingPlan[];
  now: { seconds: number; memory: number } | null; // the schedule on the screen, in s and bytes
  limit: number; // of a device, in bytes
  name: (at: number) => string; // of a plan
  lines: (at: number) => string[]; // of a plan's hover box
  group: (at: number) => string; // of a plan's family
  groupName: (group: string) => string; // in the reader's language
};
/** Px. */
type Size = { width: number; height: number };

const GB = 1e9;
const TEXT = 12; // px
const CLEAR = "rgba(0,0,0,0)";
const [LEFT, RIGHT, FOOT, ROW, ENTRY] = [52, 12, 44, 20, 118]; // px around the plot; of a legend's row and entry
const SLOWEST = 1.5; // times the fastest step: slower plans are in the table only
const FURTHEST = 3; // times the largest memory drawn; a limit further off would squeeze the points
const TICKS = [1, 1.5, 2, 3, 4, 5, 6, 8]; // times a power of ten
const TICK_ROOM = 40; // px
/** The marker of each group, as in the frontier of the charts (backend/charts/pareto/pareto.py). */
const SYMBOLS = {
  classic: "circle",
  interleaved: "square",
  "zero bubble": "diamond",
  V: "triangle-down",
  bidirectional: "bowtie",
  memory: "pentagon",
} as Record<string, string>;

/** Names of the groups, in the order of the legend. */
export const GROUPS = Object.keys(SYMBOLS);

export function planFigure(shown: Shown, size: Size, paint: Paint): { data: any[]; layout: any } {
  const { x, y } = ranges(shown);
  const entries = GROUPS.filter((group) => shown.plans.some((_, at) => shown.group(at) === group)).length + 2;
  const rows = Math.ceil(entries / Math.max(1, Math.floor((size.width - LEFT - RIGHT) / ENTRY)));
  const data = [
    ...(shown.limit / GB <= x[1] ? [limitLine(shown, y, paint)] : []),
    frontierLine(shown, x[1], paint),
    ...dots(shown, paint),
    ...ring(shown, paint),
  ];
  return { data, layout: layout({ x, y, rows, size, paint, names: names(shown, paint) }) };
}

/**
 * What the plot shows: all that is not far slower than the fastest, and the limit where it is near. Returns in GB and
 * s.
 */
function ranges({ plans, now, limit }: Shown): { x: [number, number]; y: [number, number] } {
  const all = [...plans.map(({ units }) => ({ seconds: stepSeconds(units), memory: units.memory.most })), now].filter(
    (each) => each !== null,
  );
  const fastest = Math.min(...all.map(({ seconds }) => seconds));
  const near = all.filter((each) => each.seconds <= SLOWEST * fastest || each === now);
  const memory = near.map((each) => each.memory / GB);
  const most = Math.max(...memory);
  const right = limit / GB <= FURTHEST * most ? Math.max(most, limit / GB) : most;
  const slowest = Math.max(...near.map(({ seconds }) => seconds));
  const room = Math.max(0.02 * fastest, 0.07 * (slowest - fastest));
  return { x: [Math.min(...memory) / 1.12, right * 1.12], y: [fastest - 2 * room, slowest + room] };
}

const limitLine = ({ limit }: Shown, y: [number, number], paint: Paint) => ({
  type: "scatter",
  mode: "lines",
  x: [limit / GB, limit / GB],
  y,
  name: t("limit {limit} GB", { limit: formatNumber(limit / GB) }),
  hoverinfo: "skip",
  line: { color: paint.bad, width: 1.5, dash: "dash" },
});

/** As steps: more memory still admits the same plan. right: GB. */
function frontierLine({ plans }: Shown, right: number, paint: Paint) {
  const front = plans
    .filter(({ frontier }) => frontier)
    .map(({ units }) => [units.memory.most / GB, stepSeconds(units)])
    .sort(([a], [b]) => a - b);
  const last = front.at(-1);
  if (last) front.push([right, last[1]]);
  return {
    type: "scatter",
    mode: "lines",
    x: front.map(([memory]) => memory),
    y: front.map(([, seconds]) => seconds),
    name: t("fastest"),
    hoverinfo: "skip",
    line: { color: paint.accent, width: 2, shape: "hv" },
  };
}

/** A trace for each group of families; plans that do not fit are hollow. */
function dots({ plans, lines, group, groupName }: Shown, paint: Paint) {
  return GROUPS.flatMap((each) => {
    const ours = plans.map((_, at) => at).filter((at) => group(at) === each);
    const colour = paint.groups[each];
    return ours.length === 0
      ? []
      : [
          {
            type: "scatter",
            mode: "markers",
            x: ours.map((at) => plans[at].units.memory.most / GB),
            y: ours.map((at) => stepSeconds(plans[at].units)),
            name: groupName(each),
            customdata: ours,
            text: ours.map((at) => lines(at).join("<br>")),
            hovertemplate: "%{text}<extra></extra>",
            marker: {
              symbol: SYMBOLS[each],
              size: 9,
              color: ours.map((at) => (plans[at].units.memory.fits ? colour : CLEAR)),
              line: { color: colour, width: 1.5 },
            },
          },
        ];
  });
}

const ring = ({ now }: Shown, paint: Paint) =>
  now === null
    ? []
    : [
        {
          type: "scatter",
          mode: "markers",
          x: [now.memory / GB],
          y: [now.seconds],
          name: "A",
          marker: { symbol: "circle-open", size: 20, color: paint.ink, line: { width: 2 } },
          hoverinfo: "skip",
          showlegend: false,
        },
      ];

/** The name of the fastest plan that fits. */
function names({ plans, name }: Shown, paint: Paint) {
  if (!plans[0]?.units.memory.fits) return [];
  const { memory } = plans[0].units;
  return [
    {
      x: Math.log10(memory.most / GB),
      y: stepSeconds(plans[0].units),
      ax: 0,
      ay: 10,
      yanchor: "top",
      text: name(0),
      showarrow: true,
      arrowhead: 0,
      arrowwidth: 1,
      arrowcolor: CLEAR,
      font: { color: paint.ink, size: TEXT, weight: 700 },
    },
  ];
}

/** rows: of the legend. */
function layout({
  x,
  y,
  rows,
  size,
  paint,
  names: annotations,
}: {
  x: [number, number];
  y: [number, number];
  rows: number;
  size: Size;
  paint: Paint;
  names: any[];
}) {
  const { width, height } = size;
  const top = 10 + rows * ROW;
  const tick = ticks(x, width - LEFT - RIGHT);
  const axis = {
    color: paint["ink-2"],
    gridcolor: paint["plot-grid"],
    linecolor: paint.line,
    zeroline: false,
    ticks: "",
    fixedrange: true,
    tickfont: { color: paint["ink-3"], size: TEXT - 1 },
  };
  const title = (text: string) => ({ text, standoff: 6, font: { color: paint["ink-2"], size: TEXT } });
  const font = { family: paint.font, size: TEXT };
  return {
    width,
    height,
    annotations,
    paper_bgcolor: CLEAR,
    plot_bgcolor: CLEAR,
    dragmode: false,
    hovermode: "closest",
    hoverdistance: 24,
    font: { ...font, color: paint["ink-2"] },
    hoverlabel: {
      bgcolor: paint.raised,
      bordercolor: paint.line,
      align: "left",
      font: { ...font, color: paint.ink },
    },
    margin: { l: LEFT, r: RIGHT, t: top, b: FOOT, autoexpand: false },
    xaxis: {
      ...axis,
      type: "log",
      range: x.map(Math.log10),
      tickvals: tick,
      ticktext: tick.map(formatNumber),
      title: title(t("memory of the fullest device, GB")),
    },
    yaxis: {
      ...axis,
      range: y,
      nticks: Math.max(3, Math.floor((height - top - FOOT) / 40)),
      title: title(t("time of a step, s")),
    },
    legend: {
      orientation: "h",
      x: 0,
      xanchor: "left",
      y: 1,
      yref: "container",
      yanchor: "top",
      entrywidth: ENTRY - 34,
      entrywidthmode: "pixels",
      bgcolor: CLEAR,
      font: { color: paint["ink-2"], size: TEXT },
      itemclick: false,
      itemdoubleclick: false,
    },
  };
}

/** Round numbers between two values, apart enough on a logarithmic axis. width: px. */
export function ticks([low, high]: [number, number], width: number) {
  const px = width / Math.log(high / low);
  const kept: number[] = [];
  for (const digit of TICKS)
    for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++) {
      const value = Number((digit * 10 ** power).toPrecision(3));
      if (value >= low && value <= high && kept.every((other) => Math.abs(Math.log(value / other)) * px >= TICK_ROOM))
        kept.push(value);
    }
  return kept.sort((a, b) => a - b);
}
