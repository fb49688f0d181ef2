// What plans are limited to, and devices and a batch to lay out: closed until a reader opens it.
import { h, keepFocus, setText, show } from "../../../ui/dom.ts";
import { fillSelect, type Choice } from "../../../ui/fields/choices.ts";
import { t } from "../../../core/i18n/language.ts";
import { readPlanLimits, showPlanLimits } from "../../../core/state/plan_limits.ts";
import { FRAMEWORKS } from "../../../core/schedule/spec_tables.ts";

export class Limits {
  node: HTMLDetailsElement;

  #framework: HTMLSelectElement;
  #families: HTMLInputElement;
  #recompute: HTMLInputElement;
  #offload: HTMLInputElement;
  #gpus: HTMLInputElement;
  #batch: HTMLInputElement;
  #command = h("code.plan-command", { tabindex: 0 });
  /** Of the fields, as in a link, when they were last set or read. */
  #shown: string | null = null;

  /** changed: is called after every change, with the text of a link. */
  constructor(changed: (plan: string | null) => void) {
    const onchange = () => {
      this.#shown = showPlanLimits(new Map(this.asked()));
      changed(this.#shown);
    };
    const on = { onchange };
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
      h("summary", { text: t("Limits, GPUs to lay out, command …") }),
      h(
        "div.row.plan-setup",
        labelled(t("Framework"), this.#framework),
        labelled(t("Schedules"), this.#families, t("names between commas, such as 1f1b, interleaved")),
        labelled(t("Recomputation"), this.#recompute),
        labelled(t("Offload"), this.#offload),
        labelled(t("GPUs"), this.#gpus, t("in all: with a batch, all sizes of the layout are found")),
        labelled(t("Batch"), this.#batch, t("sequences of a step on all GPUs")),
      ),
      h("p.fine", t("The same on the command line:"), " ", this.#command),
    );
  }

  /** The command that finds the same plans; "": none does. */
  tell(command: string) {
    setText(this.#command, command);
    show(this.#command.parentElement as HTMLElement, command !== "");
  }

  /** Follow the text of a link, and open where it limits something. */
  sync(plan: string | null) {
    if (plan === this.#shown) return;
    this.#shown = plan;
    const limits = readPlanLimits(plan ?? "") ?? new Map<string, string>();
    for (const [key, field] of Object.entries(this.#fields())) field.value = limits.get(key) ?? "";
    this.#recompute.checked = !limits.has("recompute");
    this.#offload.checked = !limits.has("offload");
    this.node.open ||= plan !== null;
  }

  #fields() {
    return { framework: this.#framework, families: this.#families, gpus: this.#gpus, batch: this.#batch };
  }

  /** Whether the layout is asked for. */
  get laidOut() {
    return this.asked().some(([key]) => key === "gpus" || key === "batch");
  }

  /** As keys of /api/plans, what differs from no limits. */
  asked(): [string, string][] {
    const texts: [string, string][] = [
      ["framework", this.#framework.value],
      ["families", this.#families.value.toLowerCase().replace(/\s/g, "")],
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
