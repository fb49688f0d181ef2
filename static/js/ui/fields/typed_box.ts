// A text box that the program writes too, and that knows whether its text is being typed: a change from elsewhere, such
// as costs that arrive, must not overwrite that.

export class TypedBox {
  box: HTMLInputElement;

  #settled = ""; // the last text that is not being typed: written here or taken

  constructor(box: HTMLInputElement) {
    this.box = box;
  }

  /** Whether the text differs from what was last written or taken, while the keyboard is here. */
  get isTyping() {
    return document.activeElement === this.box && this.box.value !== this.#settled;
  }

  /** The present text has been taken. */
  take() {
    this.#settled = this.box.value;
  }

  write(text: string) {
    this.#settled = text;
    if (this.box.value !== text) this.box.value = text; // an equal text would move the caret
  }
}
