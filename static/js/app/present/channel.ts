// What the presented page and the presenter's window tell each other: which slide is shown, and which to go to. Both
// are windows of one browser, so that no network is needed.

/** deck: "" when presenting has ended. at: the number of the slide; null: none of this deck. */
type Shown = { deck: string; at: number | null };
type Message = { shown?: Shown; go?: number; hello?: true };
type Listener = { shown?: (shown: Shown) => void; go?: (at: number) => void; hello?: () => void };

const NAME = "bubbleline.present";

export function createChannel({ shown, go, hello }: Listener) {
  const channel = "BroadcastChannel" in window ? new BroadcastChannel(NAME) : null;
  channel?.addEventListener("message", ({ data }: MessageEvent<Message>) => {
    if (data.shown) shown?.(data.shown);
    if (data.go !== undefined) go?.(data.go);
    if (data.hello) hello?.();
  });
  return {
    post: (now: Shown) => channel?.postMessage({ shown: now }),
    go: (at: number) => channel?.postMessage({ go: at }),
    hello: () => channel?.postMessage({ hello: true }),
  };
}
