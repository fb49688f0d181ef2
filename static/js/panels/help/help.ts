// The Help tab: the lessons, the tour, what the words mean, with papers, and all shortcuts.
import { PAPERS } from "../../core/explain/papers.ts";
import { h, pageAddress } from "../../ui/dom.ts";
import { paperLink } from "../../ui/paper_link.ts";
import { t } from "../../core/i18n/language.ts";
import { glossary, type Entry } from "./glossary.ts";

export function createHelp({ tour, shortcuts }: { tour: () => void; shortcuts: HTMLElement }) {
  const words = h("div.glossary");
  const keys = h("h2", { text: t("Shortcuts") });
  const panel = h(
    "div.help",
    h(
      "div.row.help-head",
      h("a#help-learn.button.primary", { href: pageAddress("learn") }, t("Open the lessons")),
      h("button#tour-start.button.soft", { onclick: tour }, t("Take the tour")),
      h("p", { text: t("Nine steps through the schedules; your view comes back at the end.") }),
      h("button#help-keys.button.soft", { onclick: () => keys.scrollIntoView() }, t("Shortcuts")),
      h("a#help-build.button.soft", { href: pageAddress("build") }, t("Build a schedule yourself")),
    ),
    h("h2", { text: t("What things mean") }),
    words,
    keys,
    shortcuts,
  );
  return {
    panel,
    /** The texts are made when they are first shown. */
    show() {
      if (words.childElementCount) return;
      for (const { title, entries } of glossary())
        words.append(h("section", h("h3", { text: title }), h("dl", ...entries.flatMap(entryNodes))));
    },
  };
}

function entryNodes({ term, text, paper, view }: Entry) {
  return [
    h("dt", term, view ? h("a.glossary-view", { href: view, text: t("show it") }) : ""),
    h("dd", text, paper ? paperNode(paper) : ""),
  ];
}

/** A paper's title as a link, its DOI as text, which survives printing. */
const paperNode = (key: keyof typeof PAPERS) =>
  h(
    "span.footnote.paper",
    { lang: "en" }, // as it is printed, in every language
    `${PAPERS[key].authors} ${PAPERS[key].year}, `,
    paperLink(key),
    ` doi:${PAPERS[key].doi}`,
  );
