// What the server says, to compare the page with: tests/support/page/fixtures.py writes these files.
import { readFileSync } from "node:fs";

/** @param {string} name @returns {any} */
export function fixture(name) {
  try {
    return JSON.parse(readFileSync(new URL(`../fixtures/${name}.json`, import.meta.url), "utf8"));
  } catch (error) {
    throw new Error("run: make fixtures", { cause: error });
  }
}
