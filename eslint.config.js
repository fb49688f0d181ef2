// ESLint for the page and its tests: what prettier does not decide.
import js from "@eslint/js";
import globals from "globals";

// Rules for every file. tests/lint/test_house.py has the limits of files and functions.
const house = {
  "max-lines": ["error", 600],
  "max-len": ["error", { code: 120, ignoreUrls: true }],
  "max-lines-per-function": ["error", { max: 120, skipComments: true, skipBlankLines: true }],
  "prefer-const": "error",
  "no-var": "error",
  eqeqeq: "error",
  "no-shadow": "error",
  "no-implicit-globals": "error",
  "no-console": "error",
  "no-else-return": "error",
  "no-unused-vars": ["error", { argsIgnorePattern: "^_" }],
};

export default [
  { ignores: ["static/vendor/", "node_modules/"] },
  js.configs.recommended,
  { files: ["**/*.js", "**/*.mjs"], languageOptions: { ecmaVersion: 2025, sourceType: "module" }, rules: house },
  { files: ["static/js/**/*.js"], ignores: ["static/js/core/**"], languageOptions: { globals: globals.browser } },
  {
    // Pure modules know no DOM: only what the language, workers and Node share.
    files: ["static/js/core/**/*.js"],
    languageOptions: { globals: { TextDecoder: "readonly", TextEncoder: "readonly", URLSearchParams: "readonly" } },
    rules: {
      "no-restricted-imports": [
        "error",
        {
          patterns: [
            {
              regex:
                "^(?!\\./|\\.\\./(schedule|options|explain|families|timeline|drawing|measured|state|i18n)/|" +
                "\\.\\./memoized\\.js$|.*/vendor/(fflate\\.js|tables\\.json)$)",
              message: "core imports only core, the tables of the server and fflate, which knows no DOM either",
            },
          ],
        },
      ],
    },
  },
  { files: ["tests/js/**"], languageOptions: { globals: globals.node }, rules: { "no-console": "off" } },
];
