// A choice of one word for all chunks of a device, or of one word for each chunk.
import { h, replace, show } from "../dom.ts";
import { t } from "../../core/i18n/language.ts";
import type { Modes } from "../../core/schedule/types.ts";

type ModesOptions = {
  id: string;
  label: string;
  ofEach: string; // a name for the choices of all chunks together
  title?: string;
  describedBy?: string; // the id of what explains the choice
  words: Record<string, string>; // of all chunks, each with its title
  ofChunk: string[]; // the words of one chunk
  name: (word: string) => string; // of a word in the reader's language
  spread: (modes: Modes, v: number) => string[]; // the word of each of v chunks
  put: (modes: Modes) => void;
};

const PER_CHUNK = "per-chunk"; // a choice beside the words

export class ModesField {
  options: ModesOptions;
  row: HTMLLabelElement;
  node: HTMLDivElement;

  #select;
  #each = h("option", { value: PER_CHUNK, text: t("per chunk") });
  #group;
  /** By chunk. */
  #chunks: HTMLSelectElement[] = [];
  #modes: Modes = "";
  #v = 0;
  #able: (chunk: number, word: string) => boolean = () => true;
  /** What was chosen chunk by chunk: these choices stay open where a word means the same. */
  #chosen: string | null = null;

  constructor(options: ModesOptions) {
    const { id, label, title = "", describedBy, words, name, ofEach } = options;
    this.options = options;
    this.#select = h(
      "select",
      { id, onchange: () => this.#pick(), "aria-describedby": describedBy },
      ...Object.entries(words).map(([value, means]) => h("option", { value, text: name(value), title: means })),
      this.#each,
    );
    this.#group = h("div.chunk-modes", { id: `${id}-chunks`, role: "group", "aria-label": ofEach });
    this.row = h("label.choice", { title }, h("span", { text: label }), this.#select);
    this.node = h("div", this.row, this.#group);
  }

  /** v: chunks of a device; able: whether a chunk can have a word. */
  set(modes: Modes, v: number, able: (chunk: number, word: string) => boolean = () => true) {
    [this.#modes, this.#v, this.#able] = [modes, v, able];
    if (this.options.spread(modes, v).join() !== this.#chosen) this.#chosen = null; // another schedule, or undone
    this.#draw();
  }

  #draw() {
    const open = typeof this.#modes !== "string" || (this.#chosen !== null && this.#v > 1);
    this.#each.hidden = this.#each.disabled = this.#v < 2 && !open;
    this.#select.value = open ? PER_CHUNK : String(this.#modes);
    show(this.#group, open);
    if (!open) return;
    if (this.#chunks.length !== this.#v) this.#build();
    const words = this.options.spread(this.#modes, this.#v);
    this.#chunks.forEach((select, chunk) => {
      for (const option of select.options) option.disabled = !this.#able(chunk, option.value);
      select.value = words[chunk];
    });
  }

  #build() {
    const { id, ofChunk, name } = this.options;
    this.#chunks = Array.from({ length: this.#v }, (_, chunk) =>
      h(
        "select",
        { id: `${id}-${chunk}`, onchange: () => this.#put(this.#chunks.map((select) => select.value)) },
        ...ofChunk.map((value) => h("option", { value, text: name(value) })),
      ),
    );
    const labelled = this.#chunks.map((select, chunk) =>
      h("label", h("span", { text: t("chunk {chunk}", { chunk }) }), select),
    );
    replace(this.#group, ...labelled);
  }

  #pick() {
    const word = this.#select.value;
    this.#chosen = word === PER_CHUNK ? this.options.spread(this.#modes, this.#v).join() : null;
    if (word === PER_CHUNK) this.#draw();
    else this.options.put(word);
  }

  #put(modes: string[]) {
    this.#chosen = modes.join();
    this.options.put(modes);
  }
}
