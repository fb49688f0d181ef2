// The slides of the whole page: the present view, then the scenes of the gallery; from one of them on if that is shown.
import { getJson } from "../../data/api.ts";
import { naturalChunks } from "../../data/store.ts";
import { language, t } from "../../core/i18n/language.ts";
import { parse, type State } from "../../core/state/link.ts";
import type { TimelineView } from "../timeline_view.ts";
import type { Deck, Slide } from "./presenting.ts";

/** As the server gives it. */
type Scene = { query: string; caption: string; play: boolean };
type Lesson = { parts: { title: string; scenes: Scene[] }[] };

const NAME = "gallery";
const STILL = matchMedia("(prefers-reduced-motion: reduce)");

const schedules = ({ spec, others }: State) => JSON.stringify([spec, others]);

export async function galleryDeck(view: TimelineView): Promise<Deck> {
  const { store, plans, playback } = view;
  const own = store.get();
  const slides: Slide[] = [];
  let first = -1;
  for (const { title, query, caption, play } of await scenes()) {
    const { state } = parse(query, store.defaults, naturalChunks(plans.families));
    if (schedules(state) === schedules(own)) first = slides.length;
    const show = () => {
      playback.endIntro();
      store.visit(query, "replace");
      if (play && !STILL.matches) view.onceDrawn(() => playback.playIntro());
    };
    slides.push({ number: slides.length, title, caption: [new Text(caption)], show });
  }
  if (first >= 0) return { name: NAME, slides, first };
  const back = () => store.set(own, "replace");
  return {
    name: NAME,
    slides: [{ number: null, title: t("This view"), caption: [], show: back }, ...slides],
    first: 0,
  };
}

/** The scenes in their order; none where the server does not answer. */
async function scenes() {
  try {
    const { parts }: Lesson = await getJson(`/api/lessons/${NAME}?lang=${language()}`);
    return parts.flatMap(({ title, scenes: all }) => all.map((scene) => ({ title, ...scene })));
  } catch {
    return [];
  }
}
