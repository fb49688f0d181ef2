// The menu of theme, colours, hatching and language. All of it is in the link, so that a shared view looks the same.
import { byId, h, hasServer, pageAddress, setText } from "../ui/dom.ts";
import { LANGUAGES } from "../ui/languages.ts";
import { language, t } from "../core/i18n/language.ts";
import type { ViewState } from "../core/state/link.ts";

export type Look = Pick<ViewState, "theme" | "colours" | "hatch" | "lang">;
/** The page's store, or one that keeps nothing but a look. */
export type LookStore = {
  get: () => { view: Look };
  setView: (patch: Partial<Look>, how?: "push") => void;
  subscribe: (listener: (state: { view: Look }, before: { view: Look }) => void) => void;
};

const SIGNS = { auto: "◐", light: "○", dark: "●" };

const reloadIn =
  (store: LookStore): ((lang: string) => void) =>
  (lang) => {
    store.setView({ lang }, "push");
    location.reload(); // each text is written once, when its element is made
  };

/** Have the links to the other parts of the site keep a look. */
function keepInSite(look: Look) {
  for (const link of document.querySelectorAll<HTMLAnchorElement>(".site a")) {
    const isLessons = !hasServer && link.pathname.endsWith("/learn/index.html");
    const address = new URL(isLessons ? pageAddress("learn") : link.href, location.href);
    for (const [key, value] of Object.entries({ ...look, theme: look.theme === "auto" ? null : look.theme })) {
      if (value) address.searchParams.set(key, value);
      else if (key !== "lang") address.searchParams.delete(key);
    }
    link.setAttribute("href", address.pathname + address.search);
  }
}

/** The menu behind the button. */
export function createAppearance(store: LookStore, speak: (lang: string) => void = reloadIn(store)) {
  const button = byId("theme");
  const groups = [
    group(
      "theme",
      t("Theme"),
      [
        ["auto", t("System")],
        ["light", t("Light")],
        ["dark", t("Dark")],
      ],
      (theme) => store.setView({ theme: theme as any }),
    ),
    group(
      "colours",
      t("Colours"),
      [
        ["standard", t("Standard")],
        ["paper", t("As in papers")],
      ],
      (value) => store.setView({ colours: value === "paper" ? value : null }),
    ),
    group(
      "hatch",
      t("Kinds of op"),
      [
        ["0", t("Colour and bars")],
        ["1", t("Also hatched")],
      ],
      (value) => store.setView({ hatch: value === "1" ? value : null }),
    ),
    group(
      "lang",
      t("Language"),
      LANGUAGES.map(({ code, name }) => [code, name]),
      speak,
    ),
  ];
  const node = h(
    "div#appearance.popup.menu",
    { popover: "auto", role: "dialog", "aria-label": t("Appearance and language") },
    ...groups.map((each) => each.node),
  );
  document.body.append(node);
  button.setAttribute("popovertarget", "appearance");
  button.setAttribute("aria-haspopup", "dialog");
  node.addEventListener("beforetoggle", () => {
    const box = button.getBoundingClientRect(); // placed before it is shown, so that nothing moves under a pointer
    node.style.setProperty("--top", `${box.bottom + 6}px`);
    node.style.setProperty("--right", `${Math.max(8, innerWidth - box.right)}px`);
  });
  node.addEventListener("toggle", (event) => {
    if ((event as ToggleEvent).newState !== "open") return;
    (node.querySelector("input:checked") as HTMLElement | null)?.focus();
  });
  node.addEventListener("keydown", (event) => event.stopPropagation()); // not the timeline's shortcuts

  function sync(view: Look) {
    setText(button, SIGNS[view.theme]);
    button.title = t("Appearance and language");
    button.setAttribute("aria-label", button.title);
    const now = [view.theme, view.colours ?? "standard", view.hatch ?? "0", language()];
    groups.forEach((each, at) => each.set(now[at]));
    keepInSite({ theme: view.theme, colours: view.colours, hatch: view.hatch, lang: view.lang });
  }
  store.subscribe(({ view }, before) => {
    if (view !== before.view) sync(view);
  });
  sync(store.get().view);
}

/** Buttons of which one is chosen. */
function group(name: string, title: string, options: string[][], pick: (value: string) => void) {
  const inputs = options.map(([value]) =>
    h("input", {
      type: "radio",
      name: `look-${name}`,
      value,
      id: `look-${name}-${value}`,
      onchange: () => pick(value),
    }),
  );
  const node = h(
    "fieldset.segments",
    h("legend", { text: title }),
    h(
      "div",
      ...options.map(([value, text], at) =>
        h("label", { lang: name === "lang" ? value : null }, inputs[at], h("span", { text })),
      ),
    ),
  );
  const set = (value: string) => {
    for (const input of inputs) input.checked = input.value === value;
  };
  return { node, set };
}
