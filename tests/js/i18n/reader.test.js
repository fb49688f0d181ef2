// The catalogue of what the server writes, against the sentences in its source (tests/support/sentences.py collects
// them).
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { SERVERS, TEXTS } from "../../../static/js/core/i18n/zh/zh.js";
import { speak, tr } from "../../../static/js/core/i18n/language.js";
import { NAMES } from "../../../static/js/core/i18n/zh/server_names.js";

const HAN = /[\u3001\u3002\u4e00-\u9fff\uff08-\uff1f]/; // with its punctuation
/** Holes that hold English grammar only, a plural. */
const GRAMMAR = new Set(["{1} ops of {2} rank{3} were found {3}"]);
/** Codes of terms that Chinese keeps in English. */
const SAME = new Set(["charts.rank", "charts.rank_name"]);
/** @type {string[]} */
const SENTENCES = JSON.parse(readFileSync(new URL("../../golden/sentences.json", import.meta.url), "utf8"));
/** @type {Record<string, string>} code -> English template */
const MESSAGES = JSON.parse(readFileSync(new URL("../../golden/messages.json", import.meta.url), "utf8"));
const holes = (/** @type {string} */ text) => [...new Set(text.replaceAll("!}", "}").match(/\{\d+\}/g))].sort();
const named = (/** @type {string} */ text) =>
  [...new Set([...text.matchAll(/\{(\w+)(?::[^}]*)?\}/g)].map(([, name]) => name))].sort();
const OLD = Object.entries(SERVERS).filter(([key]) => !Object.hasOwn(MESSAGES, key));

test("every message of the server has a Chinese one with the same holes", () => {
  for (const [code, english] of Object.entries(MESSAGES)) {
    assert.ok(Object.hasOwn(SERVERS, code), `${code}: ${english}`);
    assert.deepEqual(named(SERVERS[code]), named(english), code);
    const words = english.replaceAll(/\{[^}]*\}|<br>/g, "");
    if (/[a-z]/.test(words) && !SAME.has(code)) assert.match(SERVERS[code], HAN, code);
  }
});

test("every sentence of the server has a Chinese one, if only a name as it is", () => {
  const lacking = SENTENCES.filter((text) => !Object.hasOwn(SERVERS, text));
  assert.deepEqual(lacking, []);
});

test("the Chinese ones have the same holes and have Chinese in them", () => {
  for (const [from, into] of OLD) {
    const wanted = holes(from).filter((hole) => !GRAMMAR.has(`${from} ${hole}`));
    assert.deepEqual(
      holes(into).filter((hole) => !GRAMMAR.has(`${from} ${hole}`)),
      wanted,
      from,
    );
    if (!Object.hasOwn(NAMES, from)) assert.match(into, HAN, from);
  }
});

test("no Chinese sentence is left of one that the server says no longer", () => {
  const said = new Set(SENTENCES);
  assert.deepEqual(
    OLD.map(([text]) => text).filter((text) => !said.has(text)),
    [],
  );
});

test("Chinese punctuation is full-width", () => {
  const wrong = Object.entries(SERVERS).filter(([, into]) =>
    /[\u4e00-\u9fff][,;:!?]|[,;:!?][\u4e00-\u9fff]/.test(into),
  );
  assert.deepEqual(wrong, []);
});

test("each is found again in what the server makes of it", () => {
  speak("zh", TEXTS, SERVERS);
  const filled = (/** @type {string} */ text) => text.replace(/\{(\d+)!?\}/g, (_, hole) => String(70 + Number(hole)));
  const plain = (/** @type {string} */ text) => text.replaceAll(" ", "");
  for (const [from, into] of OLD) assert.equal(plain(tr(filled(from))), plain(filled(into)), from);
});

test("sentences within sentences, lists and what is put at their ends are read part by part", () => {
  speak("zh", TEXTS, SERVERS);
  for (const [english, chinese] of /** @type {[string, string][]} */ ([
    [
      "no op has finished for 3.0 s: rank 1 is in op 1F0 (its process, 77, is stopped); rank 0 waits in op 0B0 for the gradient of micro-batch 0 into stage 0 (rank 1 to 0), which was sent, and 2 more ranks wait",
      "已有 3.0 s 没有 op 完成：rank 1 正在执行 op 1F0（其进程 77 已被暂停）；rank 0 在 op 0B0 中等待微批次 0 送入阶段 0 的梯度（rank 1 到 0）（已发送），另有 2 个 rank 在等待",
    ],
    [
      "rank 3 waits in op 3S1 for the softmax statistics of all ranks of micro-batch 1, of which rank 2's part is missing",
      "rank 3 在 op 3S1 中等待微批次 1 的所有 rank 的 softmax 统计量（还缺 rank 2 的部分）",
    ],
    ["rank 2's worker process 4711 ended (SIGKILL) in op 2B3", "rank 2 的工作进程 4711 结束（SIGKILL），在 op 2B3 中"],
    [
      "rank 1 on worker-2 was lost in op 2F3: host worker-2 (10.77.0.3) is gone",
      "worker-2 上的 rank 1 失联，在 op 2F3 中：主机 worker-2 (10.77.0.3) 已离开",
    ],
    [
      "rank 3's process 4711 on worker-1 was lost while warming up: nothing has come from host worker-1 (10.77.0.2) for 5 s",
      "rank 3 的 worker-1 上的进程 4711 失联，在准备阶段：主机 worker-1 (10.77.0.2) 已有 5 s 没有消息",
    ],
    [
      "2 of 4 ranks have a place; each asks for 1 CPU and 5e+08 memory; free: vm 0 of 2 CPU and 1e+09 of 2e+09 memory, worker-2 0 of 1 CPU and 1e+09 of 2e+09 memory",
      "4 个 rank 中有 2 个已有位置；每个需要 1 CPU 和 5e+08 memory；空闲：vm 0 of 2 CPU and 1e+09 of 2e+09 memory, worker-2 0 of 1 CPU and 1e+09 of 2e+09 memory",
    ],
    ["rank 1 failed while verifying: ValueError: no such file", "rank 1 在验证时失败：ValueError：no such file"],
  ]))
    assert.equal(tr(english), chinese);
});

/** A message as the server sends it. @param {string} code @param {Record<string, any>} params */
const sent = (code, params) => ({ code, params, message: code });

test("messages within messages, and lists of them, are translated by their codes", () => {
  speak("zh", TEXTS, SERVERS);
  const waits = [
    sent("schedule.rank_waits", { rank: 0, op: "0B0", needed: "1B0", other: 1 }),
    sent("schedule.rank_waits", { rank: 1, op: "1F0", needed: "0F0", other: 0 }),
  ];
  assert.equal(
    tr(sent("schedule.imported_cannot_run", { problem: sent("schedule.deadlock_of_many", { waits }) })),
    "导入的执行顺序无法运行：死锁：rank 0 停在 0B0，等待 rank 1 上的 1B0、rank 1 停在 1F0，等待 rank 0 上的 0F0，等等；它们都无法继续",
  );
});

test("keys, values and lists of names stay as they are, whatever else their words mean", () => {
  speak("zh", TEXTS, SERVERS);
  assert.equal(tr(sent("schedule.out_of_range", { name: "memory", low: "1", high: "9" })), "memory 必须在 1 到 9 之间");
  assert.equal(
    tr(sent("schedule.no_such_family", { names: ["gpipe", "interleaved", "gis"] })),
    "没有这个名称的调度族；可选：gpipe、interleaved、gis",
  );
});
