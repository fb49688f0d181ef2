// Part of the export tab: what makes a training framework train the schedule on the screen, with the model where there
// is one; or why it does not run it, with the nearest that it runs.
import { getAnswer, whyFailed } from "../../data/api.ts";
import { h, replace, sentence, setText, show } from "../../ui/dom.ts";
import { fillSelect, type Choice } from "../../ui/fields/choices.ts";
import { linkRow } from "../../ui/fields/link_row.ts";
import { t, tr } from "../../core/i18n/language.ts";
import { specQuery } from "../../core/state/link.ts";
import { presetEntries } from "../../core/state/link_preset.ts";
import type { SpecError, Text } from "../../core/schedule/types.ts";
import type { Plan } from "../../data/plan.ts";
import type { Store } from "../../data/store.ts";

type Configuration = { name: string; title: string; text: string | null; notes: Text[]; error: SpecError | null };

export function createConfiguration(store: Store) {
  const status = h("p.share-status", { role: "status" });
  const problem = h("p.note", { role: "status", hidden: true });
  const box = linkRow("export-configuration", t("Configuration"), status, true);
  const notes = h("ul.export-notes");
  const framework = h("select#export-framework", { "aria-label": t("Framework"), onchange: () => draw() });
  let asked = "";
  let found: Configuration[] = [];

  async function follow(plan: Plan) {
    const { preset } = store.get();
    const own = presetEntries(preset, false).map(([key, text]) => [`m.${key}`, text]);
    const model = own.length ? `&${new URLSearchParams(own)}` : "";
    const { costs, w_share } = store.defaults; // times change no configuration
    const spec = { ...(plan.shown ?? plan.asked), costs, w_share };
    const query = `${specQuery(spec, store.defaults) || `?family=${spec.family}`}${model}`;
    if (query === asked) return;
    asked = query;
    try {
      const answer = await getAnswer(`/api/configurations${query}`);
      if (query !== asked) return;
      found = answer.configurations;
      const choices = found.map(({ name, title }): Choice => [name, title]);
      fillSelect(framework, choices, framework.value || found[0].name);
      draw();
    } catch (failure) {
      asked = "";
      tell(whyFailed(failure));
    }
  }

  function draw() {
    const one = found.find(({ name }) => name === framework.value);
    if (!one) return;
    if (one.error) return tell(sentence(tr(one.error)));
    tell("");
    box.set(one.text ?? "");
    setText(status, "");
    replace(notes, ...one.notes.map((note) => h("li", { text: sentence(tr(note)) })));
  }

  function tell(text: string) {
    setText(problem, text);
    show(problem, text !== "");
    for (const part of [box.node, notes]) show(part, text === "");
  }

  const heading = h("h2", { text: t("Training framework") });
  const node = h("section.export-framework", h("div.row", heading, framework), problem, box.node, status, notes);
  return { node, follow };
}
