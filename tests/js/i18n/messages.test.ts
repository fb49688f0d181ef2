// The Chinese catalogue of the server's messages, against the messages in its source.
import assert from "node:assert/strict";
import { test } from "node:test";
import { SERVERS, TEXTS } from "../support/chinese.ts";
import { WORDS } from "../../../static/js/core/i18n/zh/words.ts";
import { speak, tr } from "../../../static/js/core/i18n/language.ts";
import { fixture } from "../support/fixtures.ts";

const HAN = /[\u3001\u3002\u4e00-\u9fff\uff08-\uff1f]/; // with its punctuation
/** Codes of terms that Chinese keeps in English. */
const SAME = new Set(["charts.rank", "charts.rank_name"]);
/** Code -> English template. */
const MESSAGES: Record<string, string> = fixture("messages");
const named = (text: string) =>
  [...new Set([...text.matchAll(/\{(\w+)(?::[^}]*)?\}/g)].map(([, name]) => name))].sort();

test("every message of the server has a Chinese one with the same holes", () => {
  for (const [code, english] of Object.entries(MESSAGES)) {
    assert.ok(Object.hasOwn(SERVERS, code), `${code}: ${english}`);
    assert.deepEqual(named(SERVERS[code]), named(english), code);
    const words = english.replaceAll(/\{[^}]*\}|<br>/g, "");
    if (/[a-z]/.test(words) && !SAME.has(code)) assert.match(SERVERS[code], HAN, code);
  }
});

test("no Chinese message remains for a message that the server no longer has", () => {
  const left = Object.keys(SERVERS).filter((code) => !Object.hasOwn(MESSAGES, code) && !Object.hasOwn(WORDS, code));
  assert.deepEqual(left, []);
});

test("Chinese punctuation is full-width", () => {
  const wrong = Object.entries(SERVERS).filter(([, into]) =>
    /[\u4e00-\u9fff][,;:!?]|[,;:!?][\u4e00-\u9fff]/.test(into),
  );
  assert.deepEqual(wrong, []);
});

/** A message as the server sends it. */
const sent = (code: string, params: Record<string, any>) => ({ code, params, message: code });

test("a failure of the runner is translated part by part, its place and its reason included", () => {
  speak("zh", TEXTS, SERVERS);
  const gradient = sent("runner.link", { what: sent("runner.gradient", {}), micro: 0, stage: 0, source: 1, target: 0 });
  const stopped = sent("runner.stopped_note", { stopped: sent("runner.process_stopped", { pid: 77 }) });
  const culprit = sent("runner.rank_in_op", { rank: 1, op: "1F0", state: stopped });
  const progress = sent("runner.was_sent", {});
  const waiting = sent("runner.rank_waits", { rank: 0, op: "0B0", awaited: gradient, progress, state: "" });
  assert.equal(
    tr(sent("runner.stalled_many_wait", { seconds: "3.0", culprit, waiting, more: 2 })),
    "已有 3.0 s 没有 op 完成：rank 1 正在执行 op 1F0（其进程 77 已被暂停）；rank 0 在 op 0B0 中等待微批次 0 送入阶段 0 的梯度（rank 1 到 0）（已发送），另有 2 个 " +
      "rank 在等待",
  );
  const lost = sent("runner.rank_lost", {
    what: sent("runner.rank_on_host_lost", { rank: 1, host: "worker-2" }),
    where: sent("runner.in_op", { op: "2F3" }),
  });
  const why = sent("runner.host_dead", { host: "worker-2", address: "10.77.0.3" });
  assert.equal(
    tr(sent("runner.rank_lost_because", { what: lost, why })),
    "worker-2 上的 rank 1 失联，在 op 2F3 中：主机 worker-2 (10.77.0.3) 已离开",
  );
  const error = sent("runner.exception", { name: "ValueError", error: "no such file" });
  assert.equal(
    tr(sent("runner.rank_failed", { rank: 1, where: sent("runner.while_verifying", {}), error })),
    "rank 1 在验证时失败：ValueError：no such file",
  );
});

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

test("keys, values and lists of names are never translated as words", () => {
  speak("zh", TEXTS, SERVERS);
  assert.equal(tr(sent("schedule.out_of_range", { name: "memory", low: "1", high: "9" })), "memory 必须在 1 到 9 之间");
  assert.equal(
    tr(sent("schedule.no_such_family", { names: ["gpipe", "interleaved", "gis"] })),
    "没有这个名称的调度族；可选：gpipe、interleaved、gis",
  );
});
