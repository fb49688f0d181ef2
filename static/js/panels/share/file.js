// Part of the share dialog: one file that plays by itself, from a disk, without server or network.
import { h, replace, sentence, setText, show } from "../../ui/dom.js";
import { t, tr } from "../../core/i18n/language.js";

/** @import {Store} from "../../data/store.js" */

/** @param {Store} store */
export function createFilePart(store) {
  const said = h("p", { class: "share-said", role: "status" });
  const save = h("a", { class: "button soft", id: "share-file", download: "", href: "/api/standalone" }, t("Download"));
  const node = h(
    "details",
    { class: "share-more", id: "share-file-part" },
    h("summary", { text: t("A page that plays by itself") }),
    h("p", {
      class: "share-text",
      text: t(
        "One file with the timeline, its playback and sliders for the costs. It opens from a disk and needs no server and no network: for a lecture room, a thesis, an archive.",
      ),
    }),
    h("p", { class: "share-take" }, save),
    said,
  );

  /** How large it is, or why there is none. */
  async function ask() {
    if (!node.open) return;
    const address = `/api/standalone${store.search()}`;
    save.setAttribute("href", address);
    setText(said, t("Asking …"));
    try {
      const response = await fetch(address);
      const body = await response.text();
      show(save, response.ok);
      if (response.ok) setText(said, t("{n} kB", { n: Math.ceil(new Blob([body]).size / 1000) }));
      else replace(said, h("span", { class: "share-problem", text: sentence(tr(JSON.parse(body).error)) }));
    } catch {
      show(save, false);
      setText(said, t("The server does not answer."));
    }
  }

  node.addEventListener("toggle", ask);
  return {
    node,
    reset: () => {
      node.open = false;
    },
  };
}
