// The page for lecturers: embed codes of the scenes, and the check of a lesson's file, which the server reads and does
// not keep.
import { createLook, createLookMenu } from "./look.ts";
import { nodesOf } from "./questions.ts";
import { embedAddress, embedCode, embedHeight } from "../../panels/share/embed_code.ts";
import { Offline, Refusal, postJson } from "../../data/api.ts";
import { applyAppearance } from "../../ui/appearance.ts";
import { byId, filled, h, replace, sentence, setText, show } from "../../ui/dom.ts";
import { loadLanguage } from "../../ui/languages.ts";
import { language, t, tr } from "../../core/i18n/language.ts";

/** What is wrong in a file, or else what it has. */
type Checked = {
  problems: { line: number; cause: any }[];
  scenes?: { query: string; caption: string; picture: string }[];
  [fact: string]: any;
};

export async function startTeach() {
  const look = createLook();
  applyAppearance(look.get().view);
  await loadLanguage(`?lang=${document.documentElement.dataset.language}`);
  createLookMenu(look);
  for (const button of document.querySelectorAll("[data-embed]")) createCopy(button as HTMLButtonElement);
  createCheck(byId("lesson-check") as HTMLFormElement);
}

function createCopy(button: HTMLButtonElement) {
  const scene = button.closest("[data-query]") as HTMLElement;
  const { textContent: label } = button;
  const { query = "", ranks = "" } = scene.dataset;
  button.hidden = false;
  button.addEventListener("click", async () => {
    const code = embedCode(embedAddress(query), "100%", embedHeight(ranks.split(",").map(Number)));
    try {
      await navigator.clipboard.writeText(code);
      setText(button, t("Copied."));
    } catch {
      button.after(h("textarea", { readonly: true, rows: 3, "aria-label": label, text: code }));
      button.remove();
    }
  });
  button.addEventListener("blur", () => setText(button, label ?? ""));
}

function createCheck(form: HTMLFormElement) {
  const input = form.querySelector("input") as HTMLInputElement;
  const said = form.querySelector("[role=status]") as HTMLElement;
  show(form, true);
  input.addEventListener("change", () => check([...(input.files ?? [])]));
  form.addEventListener("dragover", (event) => {
    event.preventDefault();
    form.classList.add("is-over");
  });
  for (const kind of ["dragleave", "drop"]) form.addEventListener(kind, () => form.classList.remove("is-over"));
  form.addEventListener("drop", (event) => {
    event.preventDefault();
    check([...(event.dataTransfer?.files ?? [])]);
  });

  async function check(files: File[]) {
    if (!files.length) return;
    setText(said, t("Asking …"));
    const parts = [];
    for (const file of files) parts.push(await checked(file));
    replace(said, ...parts);
    input.value = ""; // the same file can be chosen again once it is mended
  }
}

/** What the server says of a file. */
async function checked(file: File) {
  const name = h("code", { text: file.name });
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
    const answer: Checked = await postJson("/api/lessons/check", { name: file.name, text, lang: language() });
    if (answer.problems.length)
      return h(
        "section",
        h("h4.bad", ...filled(t("{file} has {n} mistakes"), { file: name, n: answer.problems.length })),
        h(
          "ul",
          ...answer.problems.map(({ line, cause }) =>
            h("li", h("b", { text: t("line {n}", { n: line }) }), " ", sentence(tr(cause))),
          ),
        ),
      );
    const { scenes = [], ...facts } = answer;
    return h(
      "section",
      h("h4.good", ...filled(t("{file} has no mistake"), { file: name })),
      h("p", { text: t("{title}: {minutes} min, {steps} steps, {questions} questions", facts) }),
      h("div.checked-scenes", ...scenes.map(({ picture, caption }) => pictureOf(picture, caption))),
    );
  } catch (problem) {
    return h("section", h("h4.bad", name), h("p", { text: reasonOf(problem) }));
  }
}

const pictureOf = (picture: string, caption: string) =>
  h("figure", ...nodesOf(picture), h("figcaption.muted", { text: caption }));

function reasonOf(problem: unknown) {
  if (problem instanceof TypeError) return t("This file is not UTF-8 text.");
  if (problem instanceof Offline) return t("The server does not answer.");
  return problem instanceof Refusal ? sentence(tr(problem)) : String(problem);
}
