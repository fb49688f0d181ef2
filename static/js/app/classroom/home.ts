// Join a class by its code, or open one.
import { postJson, whyFailed } from "../../data/api.ts";
import { setNote } from "../../ui/notes.ts";
import { byId, show } from "../../ui/dom.ts";
import { t } from "../../core/i18n/language.ts";

const LENGTH = 6; // of a code

/** What a person has typed as a code: in capitals, without spaces and hyphens. */
const codeOf = (text: string) => text.toUpperCase().replace(/[^A-Z]/g, "");

/** Where a class begins: the whole instrument, not the first screen, which has another story. */
export const BEGIN = "/?family=gpipe&b.family=1f1b";

/** An address of the site in the language of this one, if it names one. */
export function inLanguage(path: string) {
  const asked = new URLSearchParams(location.search).get("lang");
  return asked === null ? path : `${path}${path.includes("?") ? "&" : "?"}lang=${encodeURIComponent(asked)}`;
}

export function createHome() {
  show(byId("class-deleted"), new URLSearchParams(location.search).has("deleted"));
  createJoinForm();
  createOpenForm();
}

function createJoinForm() {
  const box = byId("join-code") as HTMLInputElement;
  const problem = byId("join-problem");
  box.addEventListener("input", () => {
    setNote(problem, "");
    if ((box.selectionStart ?? 0) < box.value.length) return; // not to move the caret of who mends it
    box.value = codeOf(box.value).slice(0, LENGTH);
  });
  byId("join-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const code = codeOf(box.value);
    if (code.length === LENGTH) return location.assign(inLanguage(`/class/${code}`));
    setNote(problem, t("A code has six letters, such as BKTRWZ."));
    box.focus();
  });
}

function createOpenForm() {
  const form = byId("open-form");
  const problem = byId("open-problem");
  const button = form.querySelector("button") as HTMLButtonElement;
  const [title, hours] = ["open-title", "open-hours"].map((id) => byId(id) as HTMLInputElement);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    button.disabled = true;
    setNote(problem, "");
    try {
      const { url } = await postJson("/api/classes", { title: title.value.trim(), hours: Number(hours.value) });
      location.assign(inLanguage(`${url}/lead`));
    } catch (why) {
      setNote(problem, whyFailed(why));
      button.disabled = false;
    }
  });
}
