// Simplified Chinese: every text of the page, area by area.

/** @type {import("../pure/lang.js").Catalogue} */
export const TEXTS = {
  "Appearance and language": "外观与语言",
  "Theme": "主题",
};
