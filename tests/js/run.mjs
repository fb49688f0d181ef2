// Runs tests and scripts of the page's modules: bundles them for Node, which may be too old to read TypeScript.
//
//     node tests/js/run.mjs                    every test
//     node tests/js/run.mjs A.test.ts ...      these tests
//     node tests/js/run.mjs SCRIPT.ts ...      a script with its arguments
import { spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { buildSync } from "esbuild";

const BUILT = `var/tests/${process.pid}`; // as deep as tests/js/*/, for addresses that are relative to a file
const given = process.argv.slice(2);
const isTest = given.every((name) => name.endsWith(".test.ts"));
const { metafile } = buildSync({
  entryPoints: given.length ? (isTest ? given : given.slice(0, 1)) : ["./tests/js/**/*.test.ts"],
  entryNames: "[name]",
  outdir: BUILT,
  bundle: true,
  platform: "node",
  format: "esm",
  packages: "external",
  sourcemap: "inline",
  sourcesContent: false,
  metafile: true,
});
const files = Object.keys(metafile.outputs);
// All tests in one process, for less processor time; each file has modules of its own, since it is a bundle of its own.
const all = `${BUILT}/all.mjs`;
writeFileSync(all, files.map((file) => `import "./${basename(file)}";\n`).join(""));
const command = isTest ? ["--test-reporter=dot", all] : [...files, ...given.slice(1)];
const { status } = spawnSync(process.execPath, ["--enable-source-maps", ...command], { stdio: "inherit" });
rmSync(BUILT, { recursive: true });
process.exitCode = status ?? 1;
