// What the server says, to compare the page with: tests/support/page/fixtures.py writes these files.
import { readFileSync } from "node:fs";

export function fixture(name: string): any {
  try {
    return JSON.parse(readFileSync(new URL(`../../../tests/js/fixtures/${name}.json`, import.meta.url), "utf8"));
  } catch (error) {
    throw new Error("run: make fixtures", { cause: error });
  }
}
