// What plans are limited to, and devices and a batch to lay out: closed until a reader opens it.
import { h, keepFocus } from "../../../ui/dom.ts";
import { fillSelect, type Choice } from "../../../ui/fields/choices.ts";
import { t } from "../../../core/i18n/language.ts";
import { FRAMEWORKS } from "../../../core/schedule/spec_tables.ts";

export class Limits {
  node: HTMLDetailsElement;

  #framework: HTMLSelectElement;
  #families: HTMLInputElement;
  #recompute: HTMLInputElement;
  #offload: HTMLInputElement;
  #gpus: HTMLInputElement;
  #batch: HTMLInputElement;

  /** changed: is called after every change. */
  constructor(changed: () => void) {
    const on = { onchange: changed };
    this.#framework = h("select#plan-framework", on);
    this.#families = h("input#plan-families", { ...on, type: "text", placeholder: t("all"), spellcheck: false });
    this.#recompute = h("input#plan-recompute", { ...on, type: "checkbox", checked: true });
    this.#offload = h("input#plan-offload", { ...on, type: "checkbox", checked: true });
    this.#gpus = h("input#plan-gpus", { ...on, inputmode: "numeric", placeholder: "64" });
    this.#batch = h("input#plan-batch", { ...on, inputmode: "numeric", placeholder: "1024" });
    const choices: Choice[] = [["", t("any")], ...FRAMEWORKS.map(([name, title]): Choice => [name, title])];
    keepFocus(this.#framework, () => fillSelect(this.#framework, choices, ""));
    this.node = h(
      "details#plan-limits.plan-limits",
      h("summary", { text: t("Limit, or lay out GPUs …") }),
      h(
        "div.row.plan-setup",
        labelled(t("Framework"), this.#framework),
        labelled(t("Schedules"), this.#families, t("names between commas, such as 1f1b, interleaved")),
        labelled(t("Recomputation"), this.#recompute),
        labelled(t("Offload"), this.#offload),
        labelled(t("GPUs"), this.#gpus, t("in all: with a batch, all sizes of the layout are found")),
        labelled(t("Batch"), this.#batch, t("sequences of a step on all GPUs")),
      ),
    );
  }

  /** Whether the layout is asked for. */
  get laidOut() {
    return this.#gpus.value.trim() !== "" || this.#batch.value.trim() !== "";
  }

  /** As keys of /api/plans, what differs from no limits. */
  asked(): [string, string][] {
    const texts: [string, string][] = [
      ["framework", this.#framework.value],
      ["families", this.#families.value.trim()],
      ["recompute", this.#recompute.checked ? "" : "0"],
      ["offload", this.#offload.checked ? "" : "0"],
      ["gpus", plain(this.#gpus.value)],
      ["batch", plain(this.#batch.value)],
    ];
    return texts.filter(([, text]) => text !== "");
  }
}

const labelled = (text: string, control: HTMLElement, title: string | null = null) =>
  h("label", { title }, h("span", { text }), control);

/** A number without separators: "1,024" is 1024. */
const plain = (text: string) => text.replace(/[,\s]/g, "");
