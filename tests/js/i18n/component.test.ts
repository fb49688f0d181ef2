// The Chinese of <bubble-line>: of the catalogue only the files that it imports, because all of it is too large.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { FAMILIES_MESSAGES } from "../../../static/js/core/i18n/zh/messages_families.ts";
import { COMPONENT } from "../../../static/js/core/i18n/zh/page/component.ts";
import { CONSTRUCTED_FAMILIES } from "../../../static/js/core/schedule/spec_tables.ts";
import { readSources } from "../support/page_texts.ts";

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

test("what the component says has a Chinese text among those that it brings, and they are no more", () => {
  const parts = modules("static/js/bubble_line.ts");
  const said = readSources().texts.filter(({ file }) => parts.has(file));
  assert.deepEqual(Object.keys(COMPONENT).sort(), [...new Set(said.map(({ text }) => text))].sort());
});

test("every refusal of a family has a Chinese sentence there", () => {
  const rules = CONSTRUCTED_FAMILIES.flatMap(({ legal }) => legal.map(({ code }) => code));
  const codes = new Set([...rules, "schedule.family_takes_v_exactly", "schedule.family_takes_v_from"]);
  assert.deepEqual(Object.keys(FAMILIES_MESSAGES).sort(), [...codes].sort());
});
