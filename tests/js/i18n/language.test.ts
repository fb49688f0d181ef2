// The page's own texts against its Chinese catalogue: every text has a Chinese one, none is left over, and no text on
// the page bypasses t(...). Of the catalogue <bubble-line> brings only the files it imports, because all is too large.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { FAMILIES_MESSAGES } from "../../../static/js/core/i18n/zh/messages_families.ts";
import { COMPONENT } from "../../../static/js/core/i18n/zh/page/component.ts";
import { SERVERS, TEXTS } from "../support/chinese.ts";
import { CONSTRUCTED_FAMILIES } from "../../../static/js/core/schedule/spec_tables.ts";
import { holesOf, readSources, readTemplates, textsOf, textsOfHtml } from "../support/page_texts.ts";

const { texts, odd, bare } = readSources();
const templates = readTemplates();
const everything = [...texts, ...templates.texts];

/** Han characters or their punctuation. */
const HAN = /[\u3001\u3002\u4e00-\u9fff\uff08-\uff1f]/;
/** The same in every language: names, symbols, op texts, forms. */
const SAME = new Set([
  "Bubbleline",
  "op",
  "rank",
  "rank {rank}",
  "Rank {rank}",
  "Rank",
  "SVG",
  "JSON",
  "HBM",
  "tokens",
  "{n} kB",
  "{name} {part}",
  "t {at} / {end}",
  " ",
  "Flash attention",
  "{own} …",
  "*1F1B\nGPipe",
]);
/**
 * Beginnings of strings that look like texts for readers but are internal, by file: labels of keys, classes and ids,
 * transforms, fonts, markup, and what is named here.
 */
const PROGRAM: Record<string, string[]> = {
  "data/api.ts": ["Refusal", "Offline", "uvx "], // an error's name, a command
  "core/drawing/award_picture.ts": ["<svg ", "font-family=", "Bubbleline"], // markup, the product's name
  "app/shortcuts.ts": ["Page ", "Enter", "Esc", "Shift ", "Ctrl "],
  "app/build_view.ts": ["Enter", "Backspace", "Ctrl "],
  "core/state/plan_limits.ts": ["--set "], // a command
  "panels/diagnosis/layers.ts": ["--pipeline-model-parallel-layout "], // a flag
  "core/workbench/legality.ts": ["rank {rank} "], // sentences of the server, translated by their codes
  "panels/workbench/board.ts": ["translate(", "11px "],
  "timeline/explain/area_panel.ts": ["translate("],
  "timeline/explain/card.ts": ["translate("],
  "timeline/explain/lane_headings.ts": ["badge "],
  "panels/figures/figures.ts": ["fig-table"],
  "timeline/interact/marks.ts": ["mark {}", "short bare"],
  "panels/controls/search.ts": ["badge "],
  "panels/compare/table.ts": ["explained "],
  "panels/costs/own_values.ts": ["{}-problem"],
  "timeline/draw/axis.ts": ["{}px ", '"PingFang'],
  "timeline/draw/labels.ts": ["500 "],
  "timeline/draw/copy_lanes.ts": ["500 "],
  "panels/charts/cube_paint.ts": ["system-ui", "{}px ", "<"],
  "core/drawing/picture.ts": ["Helvetica", "<"],
  "core/explain/mathml.ts": ["<"],
  "core/families/formula.ts": ["{} if {} else"], // a formula as the server writes it
  "core/schedule/wire.ts": [""], // what only a broken server could send, reported as a server that does not answer
  "core/explain/papers.ts": [""], // titles and authors stay as they are
  "panels/help/glossary.ts": ["Chimera, DualPipe, DualPipeV"], // names of schedules
  "panels/help/help.ts": [" doi:{}"],
  "panels/share/share.ts": ["gpipe-lesson"], // an example of a name
  "component/component_page.ts": ["English", "<"], // a language, in itself
  "panels/share/embed.ts": ["<bubble-line>"], // the name of an element
  "component/style.ts": [""], // a style sheet
  "core/families/legal.ts": [""], // sentences of the server, translated by their codes
};
const ROOT = new URL("../../../", import.meta.url);
const IMPORT = /^(?:import(?! type)|\} from|export .* from).*"(\..*\.ts)";$/gm;

/** The modules that a module needs, and itself. */
function modules(path: string, found: Set<string> = new Set()) {
  if (found.has(path)) return found;
  found.add(path);
  for (const [, name] of readFileSync(new URL(path, ROOT), "utf8").matchAll(IMPORT))
    modules(new URL(name, new URL(path, ROOT)).href.slice(ROOT.href.length), found);
  return found;
}

const at = ({ file, line, text }: { file: string; line: number; text: string }) => `${file}:${line}: ${text}`;

test("every text of the page has a Chinese one", () => {
  assert.ok(everything.length > 900, "the texts are found");
  assert.deepEqual(everything.filter(({ text }) => !Object.hasOwn(TEXTS, text)).map(at), []);
});

test("the Chinese texts have the same holes, and Chinese in them unless they are the same in every language", () => {
  for (const [english, chinese] of Object.entries(TEXTS)) {
    assert.deepEqual(holesOf(chinese).sort(), holesOf(english).sort(), english);
    assert.ok(HAN.test(chinese) || SAME.has(english), `${english}: ${chinese}`);
  }
  assert.deepEqual(
    [...SAME].filter((english) => !Object.hasOwn(TEXTS, english) || HAN.test(TEXTS[english])),
    [],
    "listed for nothing",
  );
});

test("no Chinese text remains for an English one that was removed", () => {
  const used = new Set(everything.map(({ text }) => text));
  assert.deepEqual(
    Object.keys(TEXTS).filter((english) => !used.has(english)),
    [],
  );
});

test("Chinese sentences have full-width punctuation, and a space between Chinese and Latin letters or numbers", () => {
  for (const chinese of Object.values(TEXTS)) {
    assert.doesNotMatch(chinese, /[\u4e00-\u9fff][,;:?!.](?![\w{])/, chinese);
    assert.doesNotMatch(chinese, /[\u4e00-\u9fff][A-Za-z0-9]|[A-Za-z0-9][\u4e00-\u9fff]/, chinese);
  }
});

test("Chinese texts say 你, and one word for each thing", () => {
  const avoided = /您|代价(?!是)|训练步时间|到集群|棋盘/; // 你, 耗时 or 开销, 单步时间, 在集群上, 画布
  const catalogues = { ...TEXTS, ...SERVERS };
  assert.deepEqual(
    Object.values(catalogues).filter((text) => avoided.test(text)),
    [],
  );
});

test("every argument of t is a literal with values for all of its holes, so it can be read from the source", () => {
  // it translates what the HTML marks
  assert.deepEqual(odd.filter(({ file }) => file !== "static/js/ui/languages.ts").map(at), []);
  const wrong = texts.filter(
    ({ text, names, partly }) => names !== null && !partly && holesOf(text).some((hole) => !names.includes(hole)),
  );
  assert.deepEqual(wrong.map(at), []);
  assert.deepEqual(
    texts.filter(({ text, names }) => names?.some((name) => !holesOf(text).includes(name))).map(at),
    [],
    "values for no hole",
  );
});

test("no text of the page bypasses t", () => {
  const listed = Object.entries(PROGRAM).flatMap(([file, begins]) => begins.map((begin) => ({ file, begin })));
  const isListed = (found: { file: string; text: string }, { file, begin }: (typeof listed)[number]) =>
    found.file === `static/js/${file}` && found.text.startsWith(begin);
  assert.deepEqual(bare.filter((found) => !listed.some((each) => isListed(found, each))).map(at), []);
  assert.deepEqual(
    listed.filter((each) => !bare.some((found) => isListed(found, each))),
    [],
    "listed for nothing",
  );
  assert.deepEqual(templates.bare.map(at), []);
});

test("the scan detects untranslated texts in a sample", () => {
  const found = (code: string) => textsOf("a.ts", code).bare.map(({ text }) => text);
  assert.deepEqual(
    found('h("p", { class: "a b", text: "wait" }, "for", x ? "rank 3" : y); h("b", { "aria-label": `at ${x} now` })'),
    ["wait", "for", "rank 3", "at {} now"],
  );
  assert.deepEqual(
    found('setText(node, "idle"); node.title = "Idle"; ctx.fillText(`${n} ops`, 0, 0); toast("Copied")'),
    ["idle", "Idle", "{} ops", "Copied"],
  );
  assert.deepEqual(
    found(
      'const a = { b: "Costs of a device", c: ["one stage"] }; if (a === "what is this") node.querySelector("a b");',
    ),
    ["Costs of a device", "one stage"],
  );
  const { texts: calls, odd: strange } = textsOf(
    "a.ts",
    'import { t } from "../core/i18n/language.ts"; t("a " + "{b}", { b }); t(x); t(`c`); t("{d}", rest)',
  );
  assert.deepEqual(
    calls.map(({ text, names }) => [text, names]),
    [
      ["a {b}", ["b"]],
      ["c", []],
      ["{d}", null],
    ],
  );
  assert.equal(strange.length, 1);
  const html = textsOfHtml("a.html", '<p data-t title="Why">One<b>Two</b> <i data-t>Three</i></p><style>a b</style>');
  assert.deepEqual(
    [html.texts, html.bare].map((list) => list.map(({ text }) => text)),
    [["Why", "One", "Three"], ["Two"]],
  );
});

test("what the component says has a Chinese text among those that it brings, and they are no more", () => {
  const parts = modules("static/js/bubble_line.ts");
  const said = texts.filter(({ file }) => parts.has(file));
  assert.deepEqual(Object.keys(COMPONENT).sort(), [...new Set(said.map(({ text }) => text))].sort());
});

test("every refusal of a family has a Chinese sentence in the component", () => {
  const rules = CONSTRUCTED_FAMILIES.flatMap(({ legal }) => legal.map(({ code }) => code));
  const codes = new Set([...rules, "schedule.family_takes_v_exactly", "schedule.family_takes_v_from"]);
  assert.deepEqual(Object.keys(FAMILIES_MESSAGES).sort(), [...codes].sort());
});
