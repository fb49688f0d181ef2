// ESLint for the page and its tests: what prettier does not decide.
import js from "@eslint/js";
import globals from "globals";
import typescript from "typescript-eslint";

// Rules for every file. tests/lint/test_house.py has the limits of files and functions.
const house = {
  "max-lines": ["error", 600],
  "max-len": ["error", { code: 120, ignoreUrls: true }],
  "max-lines-per-function": ["error", { max: 120, skipComments: true, skipBlankLines: true }],
  "prefer-const": "error",
  "no-var": "error",
  eqeqeq: "error",
  "@typescript-eslint/no-shadow": "error",
  "no-implicit-globals": "error",
  "no-console": "error",
  "no-else-return": "error",
  "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_" }],
  "@typescript-eslint/consistent-type-definitions": ["error", "type"],
  "@typescript-eslint/no-this-alias": "off",
  "@typescript-eslint/no-explicit-any": "off", // JSON of the server, before it is read
};

/** What the language, browsers, workers and Node share. */
const SHARED = ["TextDecoder", "TextEncoder", "URLSearchParams", "atob", "btoa"];

export default [
  { ignores: ["static/vendor/", "node_modules/"] },
  js.configs.recommended,
  ...typescript.configs.recommended,
  { rules: house },
  {
    files: ["static/js/**"],
    ignores: ["static/js/core/**"],
    languageOptions: { globals: globals.browser, parserOptions: { lib: ["es2022", "dom"] } },
    rules: { "no-undef": "error" },
  },
  {
    // Pure modules know no DOM.
    files: ["static/js/core/**"],
    languageOptions: { globals: Object.fromEntries(SHARED.map((name) => [name, "readonly"])) },
    rules: {
      "no-undef": "error",
      "no-restricted-imports": [
        "error",
        {
          patterns: [
            {
              regex:
                "^(?!\\./|(\\.\\./)+(memoized|first_where)\\.ts$|" +
                "\\.\\./(schedule|options|explain|families|timeline|drawing|measured|state|i18n)/|" +
                ".*/vendor/(fflate\\.js|tables\\.json)$)",
              message: "core imports only core, the tables of the server and fflate, which knows no DOM either",
            },
          ],
        },
      ],
    },
  },
  { files: ["tests/js/**", "bench/**"], languageOptions: { globals: globals.node }, rules: { "no-console": "off" } },
];
