// Tests of the catalogues of Chinese.
import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { chosen } from "../../../static/js/ui/languages.js";
import { language, speak, t, tr } from "../../../static/js/core/i18n/language.js";

afterEach(() => speak("en", {}));

test("English is what stands in the code, with its holes filled", () => {
  assert.equal(t("{op} waits for {other}", { op: "2F0", other: "1F0" }), "2F0 waits for 1F0");
  assert.equal(tr("m must be at least 4"), "m must be at least 4");
});

test("another language may put the holes in another order, and keeps English where it has no text", () => {
  speak("zh", { "{op} waits for {other}": "{other} 未完成，{op} 等待" });
  assert.equal(language(), "zh");
  assert.equal(t("{op} waits for {other}", { op: "2F0", other: "1F0" }), "1F0 未完成，2F0 等待");
  assert.equal(t("new text"), "new text");
});

test("a sentence of the server is found by its pattern, and what stands in its holes is looked up too", () => {
  speak("zh", { "{field} must be at least {limit}": "{field} 至少为 {limit}", "the number of layers": "层数" });
  assert.equal(tr("the number of layers must be at least 4"), "层数至少为 4");
  assert.equal(tr("a (new) sentence?"), "a (new) sentence?");
});

test("a link's language counts before the browser's, and a browser's Chinese is Chinese wherever it is read", () => {
  assert.equal(chosen("zh", ["en-US"]).tag, "zh-Hans");
  assert.equal(chosen("en", ["zh-CN"]).code, "en");
  assert.equal(chosen(null, ["fr-FR", "zh-Hans-SG", "en"]).code, "zh");
  assert.equal(chosen("xx", ["fr"]).code, "en");
});
