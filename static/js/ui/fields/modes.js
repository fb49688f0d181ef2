// A choice of one word for all chunks of a device, or of one word for each chunk.
import { h, replace, show } from "../dom.js";
import { t } from "../../core/i18n/language.js";

/** @import {Modes} from "../../core/schedule/types.js" */
/**
 * @typedef {object} ModesOptions
 * @property {string} id
 * @property {string} label
 * @property {string} ofEach   a name for the choices of all chunks together
 * @property {string} [title]
 * @property {string} [describedBy]  the id of what explains the choice
 * @property {Record<string, string>} words  of all chunks, each with its title
 * @property {string[]} ofChunk  the words of one chunk
 * @property {(word: string) => string} name  of a word in the reader's language
 * @property {(modes: Modes, v: number) => string[]} spread  the word of each of v chunks
 * @property {(modes: Modes) => void} put
 */

const PER_CHUNK = "per-chunk"; // a choice beside the words

export class ModesField {
  #select;
  #each = h("option", { value: PER_CHUNK, text: t("per chunk") });
  #group;
  /** @type {HTMLSelectElement[]} by chunk */
  #chunks = [];
  /** @type {Modes} */
  #modes = "";
  #v = 0;
  /** @type {(chunk: number, word: string) => boolean} */
  #able = () => true;
  /** What was chosen chunk by chunk: these choices stay open where a word means the same. @type {string | null} */
  #chosen = null;

  /** @param {ModesOptions} options */
  constructor(options) {
    const { id, label, title = "", describedBy, words, name, ofEach } = options;
    this.options = options;
    this.#select = h(
      "select",
      { id, onchange: () => this.#pick(), "aria-describedby": describedBy },
      ...Object.entries(words).map(([value, means]) => h("option", { value, text: name(value), title: means })),
      this.#each,
    );
    this.#group = h("div", { class: "chunk-modes", id: `${id}-chunks`, role: "group", "aria-label": ofEach });
    this.row = h("label", { class: "choice", title }, h("span", { text: label }), this.#select);
    this.node = h("div", {}, this.row, this.#group);
  }

  /**
   * @param {Modes} modes @param {number} v chunks of a device
   * @param {(chunk: number, word: string) => boolean} [able] whether a chunk can have a word
   */
  set(modes, v, able = () => true) {
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
      h("label", {}, h("span", { text: t("chunk {chunk}", { chunk }) }), select),
    );
    replace(this.#group, ...labelled);
  }

  #pick() {
    const word = this.#select.value;
    this.#chosen = word === PER_CHUNK ? this.options.spread(this.#modes, this.#v).join() : null;
    if (word === PER_CHUNK) this.#draw();
    else this.options.put(word);
  }

  /** @param {string[]} modes */
  #put(modes) {
    this.#chosen = modes.join();
    this.options.put(modes);
  }
}
