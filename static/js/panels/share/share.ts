// The share dialog: the link to this view, copied at once; a short one on request; code for a frame; a file that plays.
import { Offline, Refusal, getResponse, postJson, whyFailed } from "../../data/api.ts";
import { byId, h, replace, sentence, setText, show } from "../../ui/dom.ts";
import { t, tr } from "../../core/i18n/language.ts";
import { createEmbedPart } from "./embed.ts";
import { linkRow } from "../../ui/fields/link_row.ts";
import type { Store } from "../../data/store.ts";

/** As the server gives it. */
type Short = { code: string; url: string; query: string; name: string | null };

const LONG = 300; // characters; programs that show links cut them somewhere above

/** The Share button and its dialog. */
export function createShare(store: Store) {
  let dialog: ReturnType<typeof createDialog> | null = null;
  function open() {
    dialog ??= createDialog(store);
    dialog.open();
  }
  byId("share").addEventListener("click", open);
  return { open };
}

function createDialog(store: Store) {
  const status = h("p.share-status", { role: "status" });
  const link = linkRow("share-link", t("Link to this view"), status);
  const short = createShortPart(() => store.search());
  const parts = [createEmbedPart(store), createFilePart(store)];
  const close = h("button.button.icon", { "aria-label": t("Close"), onclick: () => node.close() }, "×");
  const node = h(
    "dialog#share-dialog.popup.share",
    { "aria-labelledby": "share-title" },
    h("div.share-head", h("h2#share-title", { text: t("Share this view") }), close),
    h("section", link.node, status),
    short.node,
    ...parts.map((part) => part.node),
  );
  node.addEventListener("click", (event) => {
    if (event.target === node) node.close();
  });
  document.body.append(node);

  return {
    open() {
      link.set(store.link());
      short.reset();
      for (const part of parts) part.reset();
      node.showModal();
      link.copy(sayLink(store.link()));
    },
  };
}

/** What the link is. */
function sayLink(link: string) {
  if (link.length > LONG + location.origin.length)
    return t("Copied. It is {n} characters long, which some programs cut; a short link is safer.", { n: link.length });
  if (link.includes("?z="))
    return t("Copied. This view is large, so the link is packed; a short link is easier to share.");
  return t("Copied. The link contains the whole view; nothing is stored.");
}

function createShortPart(query: () => string) {
  const status = h("p.share-status", { role: "status" });
  const name = h("input#share-name", {
    type: "text",
    maxlength: 40,
    autocomplete: "off",
    autocapitalize: "none",
    spellcheck: "false",
    placeholder: "gpipe-lesson",
    "aria-describedby": "share-short-status",
  });
  status.id = "share-short-status";
  const make = h("button#share-short-make.button.soft", { type: "submit" }, t("Make a short link"));
  const made = linkRow("share-short", t("Short link"), status);
  const form = h(
    "form.share-row",
    { onsubmit: submit },
    h("label", { for: "share-name", text: t("Short link, with an optional name") }),
    h("div.share-take", h("span.cut.share-prefix", { text: `${location.host}/s/` }), name, make),
  );
  made.node.hidden = true;

  async function submit(event: Event) {
    event.preventDefault();
    make.disabled = true;
    setText(status, t("Asking …"));
    try {
      const answer: Short = await postJson("/api/links", { query: query(), name: name.value.trim() || null });
      made.set(location.origin + answer.url);
      made.node.hidden = false;
      await made.copy(t("Copied. It opens this view as it is now and is stored on this server."));
    } catch (problem) {
      complain(problem);
    } finally {
      make.disabled = false;
    }
  }

  function complain(problem: unknown) {
    if (problem instanceof Offline)
      return setText(status, t("The server does not answer. The link above works without a short one."));
    if (!(problem instanceof Refusal)) return setText(status, String(problem));
    const { nearest } = problem.error;
    const take = () => {
      name.value = String(nearest);
      name.focus();
      form.requestSubmit();
    };
    replace(
      status,
      h("span.share-problem", { text: sentence(tr(problem)) }),
      nearest === undefined || nearest === null
        ? null
        : h("button.link", { onclick: take }, t("Use {name}", { name: String(nearest) })),
    );
  }

  return {
    node: h("section", form, made.node, status),
    /** The view may be another than last time. */
    reset() {
      made.node.hidden = true;
      setText(status, "");
    },
  };
}

/** A stand-alone HTML file of the view. */
function createFilePart(store: Store) {
  const status = h("p.share-status", { role: "status" });
  const save = h("a#share-file.button.soft", { download: "", href: "/api/standalone" }, t("Download"));
  const node = h(
    "details#share-file-part.share-more",
    h("summary", { text: t("Stand-alone HTML file") }),
    h("p.muted.share-text", {
      text: t(
        "One file with the timeline, playback, the choice of a schedule, and sliders for sizes and costs. It opens " +
          "from a disk and needs neither a server nor a network: for a lecture, a thesis, an archive.",
      ),
    }),
    h("p.share-take", save),
    status,
  );

  /** How large it is, or why there is none. */
  async function ask() {
    if (!node.open) return;
    const address = `/api/standalone${store.search()}`;
    save.setAttribute("href", address);
    setText(status, t("Asking …"));
    try {
      const response = await getResponse(address);
      const body = await response.text();
      show(save, response.ok);
      if (response.ok) setText(status, t("{n} kB", { n: Math.ceil(new Blob([body]).size / 1000) }));
      else replace(status, h("span.share-problem", { text: sentence(tr(JSON.parse(body).error)) }));
    } catch (problem) {
      show(save, false);
      setText(status, whyFailed(problem));
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
