// The style of <bubble-line>, inside its shadow root. Adopted as a style sheet, which no content policy forbids.

/** Colours by their names in tokens.css, from which a test takes that they are the same. */
export const TOKENS = {
  surface: "light-dark(#ffffff, #191c20)",
  raised: "light-dark(#ffffff, #23272d)",
  sunk: "light-dark(#e9e9e4, #0c0e10)",
  line: "light-dark(#dcdcd5, #2f343b)",
  ink: "light-dark(#17191d, #eceef0)",
  "ink-2": "light-dark(#454b55, #bcc3cc)",
  "ink-3": "light-dark(#5f6672, #959da9)",
  accent: "light-dark(#0b5fa5, #74b7f0)",
  bad: "light-dark(#b42318, #ff8f84)",
  "k-f": "light-dark(#0072b2, #2f8fd0)",
  "k-i": "light-dark(#ee9a1c, #f0a53a)",
  "k-w": "light-dark(#1aa179, #2db58c)",
  "k-b": "light-dark(#cf4a1e, #e0623a)",
  "k-s": "light-dark(#e3a6cb, #e8b3d3)",
  "k-t": "light-dark(#97407a, #b5609a)",
  "k-c": "light-dark(#e3bd00, #f0d03c)",
  "k-out": "light-dark(#8693a3, #74818f)",
  "k-in": "light-dark(#bcc7d2, #a9b5c1)",
  "plot-row": "light-dark(#f5f5f2, #1f2328)",
  "plot-idle": "light-dark(#cfcfc7, #3d444c)",
  "plot-hatch": "light-dark(#8c8c83, #6f7884)",
  "plot-grid": "light-dark(#e4e4de, #2a2f36)",
  "plot-ink": "light-dark(#454b55, #bcc3cc)",
  "plot-dim": "light-dark(rgb(255 255 255 / 52%), rgb(25 28 32 / 54%))",
  "mark-here": "light-dark(#17191d, #ffffff)",
  "mark-head": "light-dark(#17191d, #ffffff)",
};

/** px of the type for which everything has its size. */
export const TYPE = 13;

const RULES = `
:host { display: flex; flex-direction: column; min-height: 320px; contain: layout style;
  font-size: var(--bubble-line-font-size, ${TYPE}px) !important; }
:host([hidden]) { display: none; }
* { box-sizing: border-box; }
[hidden] { display: none !important; }
.frame { ${Object.entries(TOKENS)
  .map(([name, value]) => `--${name}: ${value};`)
  .join(" ")}
  color-scheme: light dark; flex: 1; display: flex; flex-direction: column; min-width: 0; overflow: hidden;
  container-type: inline-size; border: 1px solid var(--line); border-radius: 6px; background: var(--surface);
  color: var(--ink);
  font: ${TYPE}px/20px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", Arial, "PingFang SC",
    "Microsoft YaHei", "Noto Sans CJK SC", sans-serif;
  font-variant-numeric: tabular-nums; text-align: left; letter-spacing: normal; direction: ltr; }
.frame[data-theme="light"] { color-scheme: light; }
.frame[data-theme="dark"] { color-scheme: dark; }
button, input, select { font: inherit; color: inherit; margin: 0; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; border-radius: 4px; }
.head { display: flex; flex-wrap: wrap; gap: 0 12px; padding: 6px 10px 0; }
.head .figures { margin-left: auto; color: var(--ink-2); }
.head .figures b { color: var(--ink); }
.sizes { color: var(--ink-2); }
.legend { display: flex; flex-wrap: wrap; gap: 0 14px; padding: 0 10px; color: var(--ink-2); font-size: 12px; }
.legend span { display: inline-flex; align-items: center; gap: 6px; }
.legend i { width: 14px; height: 9px; border-radius: 2px; }
.legend .f { background: var(--k-f); }
.legend .i { background: var(--k-i); }
.legend .w { background: var(--k-w); }
.legend .b { background: var(--k-b); }
.legend .pair { background: linear-gradient(to bottom right, var(--k-f) 50%, var(--k-b) 50%); }
.legend .idle { background: repeating-linear-gradient(135deg, var(--plot-hatch) 0 1px, var(--plot-idle) 1px 4px); }
@container (max-width: 420px) { .legend { display: none; } }
.sliders { display: grid; grid-template-columns: repeat(auto-fit, minmax(120px, 1fr)); gap: 4px 20px; padding: 6px 10px;
  align-items: end; }
label { display: grid; grid-template-columns: max-content 1fr; gap: 0 8px; align-items: baseline; min-width: 0; }
label span { color: var(--ink-2); }
label b { font-weight: 600; }
label :is(input, select) { grid-column: 1 / -1; width: 100%; min-width: 0; min-height: 24px; }
select { padding: 0 4px; border: 1px solid var(--line); border-radius: 6px; background: var(--raised); }
input[type="range"] { accent-color: var(--accent); }
.plot { position: relative; flex: 1 1 120px; min-height: 120px; overflow: hidden; touch-action: pan-y; }
.plot:focus-visible { outline-offset: -2px; }
.plot canvas { position: absolute; inset: 0; }
.tip { position: absolute; z-index: 1; max-width: min(340px, calc(100% - 16px)); padding: 6px 8px; border-radius: 6px;
  border: 1px solid var(--line); background: var(--raised); color: var(--ink); font-size: 12px; line-height: 17px;
  pointer-events: none; box-shadow: 0 4px 14px rgb(0 0 0 / 22%); }
.tip b { display: block; }
.transport { display: flex; align-items: center; gap: 8px; padding: 2px 10px 6px; }
.transport button { display: inline-flex; align-items: center; justify-content: center; width: 32px; height: 32px;
  padding: 0; border: 0; border-radius: 6px; background: none; cursor: pointer; }
.transport button:hover { background: var(--sunk); }
.transport svg { width: 16px; height: 16px; fill: currentcolor; }
.transport input { flex: 1; min-width: 40px; min-height: 24px; }
.transport output { color: var(--ink-2); white-space: nowrap; }
.problem { margin: 0; padding: 16px; color: var(--bad); }
.said, .out { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
  white-space: nowrap; }
details { padding: 0 10px 8px; max-height: 220px; overflow: auto; }
summary { cursor: pointer; min-height: 24px; color: var(--ink-2); }
table { border-collapse: collapse; }
th, td { padding: 2px 10px 2px 0; text-align: left; vertical-align: top; font-weight: 400; }
th { color: var(--ink-2); }
`;

let sheet: CSSStyleSheet | null = null;

/** One sheet for all elements of a page. */
export function styleSheet() {
  if (!sheet) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(RULES);
  }
  return sheet;
}
