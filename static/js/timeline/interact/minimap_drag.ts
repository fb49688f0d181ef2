// Dragging on the minimap: its window is dragged, its edges make it wider or narrower, a click beside it centres it
// there, and where everything is in sight a drag draws a new window. The keys W, S, A and D do the same.
import { placeIn } from "../../ui/canvas.ts";
import { dragged, gripAt, type Grip, type View } from "../../core/timeline/viewport.ts";

export type Window = {
  total: () => number;
  least: () => number;
  window: () => View;
  look: (view: View) => void;
  centre: (t: number) => void;
};
type Press = { grip: Grip | "new"; view: View; x: number; far: boolean };

const CLICK = 3; // px
const REACH = 6;
const REACH_TOUCH = 14;

/** place: of the time axis in it. */
export function dragMinimap(node: HTMLElement, place: () => { left: number; width: number }, window: Window) {
  let press: Press | null = null;

  const whole = () => {
    const { t0, t1 } = window.window();
    return t1 - t0 >= window.total() * 0.999;
  };
  const scale = () => window.total() / place().width;
  const xOf = (event: PointerEvent) => placeIn(node, event).x - place().left;

  function grip(event: PointerEvent, x: number): Grip | "new" {
    const { t0, t1 } = window.window();
    const found = gripAt(x, t0 / scale(), t1 / scale(), event.pointerType === "touch" ? REACH_TOUCH : REACH);
    return found === "window" && whole() ? "new" : found;
  }

  function start(event: PointerEvent) {
    if (event.button !== 0) return;
    node.setPointerCapture(event.pointerId);
    const x = xOf(event);
    press = { grip: grip(event, x), view: window.window(), x, far: false };
    if (press.grip !== "outside") return;
    window.centre(x * scale());
    press = { grip: "window", view: window.window(), x, far: true };
  }

  function move(event: PointerEvent) {
    const x = xOf(event);
    if (!press) {
      node.dataset.grip = grip(event, x);
      return;
    }
    if (!press.far && Math.abs(x - press.x) < CLICK) return;
    press.far = true;
    const dt = (x - press.x) * scale();
    const from = press.x * scale();
    const view = press.grip === "new" ? { t0: Math.max(0, from), t1: Math.max(0, from) } : press.view;
    window.look(dragged(view, press.grip === "new" ? "end" : press.grip, dt, window.total(), window.least()));
  }

  function end(event: PointerEvent) {
    if (press && !press.far && press.grip === "window" && event.type === "pointerup") window.centre(press.x * scale());
    press = null;
  }

  node.addEventListener("pointerdown", start);
  node.addEventListener("pointermove", move);
  node.addEventListener("pointerup", end);
  node.addEventListener("pointercancel", end);
}
