// Where a class has answered, over the timeline: a spot on each op or wait, the larger the more answers it has.
import { boxOf } from "../../timeline/draw/axis.ts";
import { traceAt } from "../../timeline/trace.ts";
import { find } from "../../core/schedule/ops.ts";
import { h } from "../../ui/dom.ts";
import { onStage } from "../../ui/frame_loop.ts";
import type { Count } from "../../data/classroom/classroom.ts";
import type { Timeline } from "../../timeline/timeline.ts";

type Spot = { node: HTMLElement; answer: string };
const MOST = 60;
const [LEAST_PX, MOST_PX] = [14, 56];
const NAMED = 0.05; // the least share that is written on its spot
const MOMENT = /^(\d+)@([\d.]+)(?:-([\d.]+))?$/;

export function createSpots(timeline: Timeline) {
  const layer = h("div.class-spots", { "aria-hidden": "true" });
  let spots: Spot[] = [];
  timeline.plot.append(layer);
  onStage("overlay", place);

  /** right: marked by a ring. */
  function show(counts: Count[], answered: number, right: string | null) {
    const places = byPlace(timeline, counts);
    const most = Math.max(1, ...places.map(([, count]) => count));
    spots = places.slice(0, MOST).map(([answer, count]) => {
      const size = LEAST_PX + (MOST_PX - LEAST_PX) * Math.sqrt(count / most);
      const text =
        count / Math.max(1, answered) >= NAMED ? `${Math.round((100 * count) / Math.max(1, answered))} %` : "";
      const node = h("span.class-spot", { text });
      node.style.width = node.style.height = `${size}px`;
      node.style.setProperty("--share", String(count / most));
      return { node, answer };
    });
    if (right) spots.push({ node: h("span.class-spot.is-right"), answer: right });
    layer.replaceChildren(...spots.map(({ node }) => node));
    place();
  }

  function place() {
    for (const { node, answer } of spots) {
      const at = pointOf(timeline, answer);
      node.hidden = at === null;
      if (!at) continue;
      node.style.left = `${at.x}px`;
      node.style.top = `${at.y}px`;
    }
  }

  return {
    show,
    hide() {
      spots = [];
      layer.replaceChildren();
    },
  };
}

/** The answers with all moments of a wait as one, the most frequent first. */
export function byPlace({ lanes: [lane] }: Timeline, counts: Count[]): Count[] {
  const sums = new Map<string, number>();
  for (const [answer, count] of counts) {
    const [, rank, moment] = /^(\d+)@([\d.]+)$/.exec(answer) ?? [];
    const idle = lane && rank !== undefined ? traceAt(lane, Number(rank), Number(moment))?.idle : null;
    const place = idle ? `${rank}@${idle.from}-${idle.to}` : answer;
    sums.set(place, (sums.get(place) ?? 0) + count);
  }
  return [...sums].sort(([, a], [, b]) => b - a);
}

/** The middle of an op, or of a moment or a wait of a rank, in pixels of the plot; null where it is not in sight. */
function pointOf({ scene, lanes }: Timeline, answer: string) {
  const [lane] = lanes;
  if (!lane) return null;
  const moment = MOMENT.exec(answer);
  if (!moment) {
    const op = find(lane.schedule, answer);
    const box = op && boxOf(scene, lane.id, op.rank, op.i);
    return box ? { x: box.x + box.w / 2, y: box.y + box.h / 2 } : null;
  }
  const { layout, t0, t1 } = scene;
  const [rank, from, to = from] = moment.slice(1).map((text) => (text === undefined ? undefined : Number(text)));
  const row = layout.groups.find((group) => group.id === lane.id)?.rows.find((each) => each.rank === rank);
  const time = ((from as number) + (to as number)) / 2;
  if (!row || time < t0 || time > t1) return null;
  return { x: layout.plotLeft + ((time - t0) / (t1 - t0)) * layout.plotWidth, y: row.y + row.h / 2 };
}
