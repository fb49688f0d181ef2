// Tests of the catalogues of Chinese.
import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { chosen } from "../../../static/js/ui/languages.ts";
import { language, speak, t, tr } from "../../../static/js/core/i18n/language.ts";

afterEach(() => speak("en", {}));

test("English is the text in the code, with its holes filled", () => {
  assert.equal(t("{op} waits for {other}", { op: "2F0", other: "1F0" }), "2F0 waits for 1F0");
  assert.equal(tr("m must be at least 4"), "m must be at least 4");
});

test("another language may put the holes in another order, and keeps English where it has no text", () => {
  speak("zh", { "{op} waits for {other}": "{other} 未完成，{op} 等待" });
  assert.equal(language(), "zh");
  assert.equal(t("{op} waits for {other}", { op: "2F0", other: "1F0" }), "1F0 未完成，2F0 等待");
  assert.equal(t("new text"), "new text");
});

test("a message of the server is translated by its code, and messages among its params with it", () => {
  speak("zh", {}, { "a.least": "{what}至少为 {limit}", "a.layers": "层数" });
  const what = { code: "a.layers", params: {}, message: "the number of layers" };
  const message = { code: "a.least", params: { what, limit: 4 }, message: "the number of layers must be at least 4" };
  assert.equal(tr(message), "层数至少为 4");
  assert.equal(tr({ code: "a.unknown", params: {}, message: "a new sentence" }), "a new sentence");
});

test("a known word from the server is looked up unchanged, and any other text is kept", () => {
  speak("zh", {}, { looped: "循环" });
  assert.equal(tr("looped"), "循环");
  assert.equal(tr("looped twice"), "looped twice");
});

test("a link's language counts before the browser's, and a browser's Chinese is Chinese wherever it is read", () => {
  assert.equal(chosen("zh", ["en-US"]).tag, "zh-Hans");
  assert.equal(chosen("en", ["zh-CN"]).code, "en");
  assert.equal(chosen(null, ["fr-FR", "zh-Hans-SG", "en"]).code, "zh");
  assert.equal(chosen("xx", ["fr"]).code, "en");
});
