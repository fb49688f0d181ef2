// A building block in numbers: each device's lifespan over the period beside the drawing, and every slot as a table.
import { h } from "../../ui/dom.ts";
import { hiddenCaption, rowCells, tableHead, tableRow } from "../../ui/table.ts";
import { arithmetic, livesOf, type Answer } from "../../core/drawing/building_block.ts";
import { t } from "../../core/i18n/language.ts";

/** A row a device, as high as its row in the drawing. */
export function arithmeticTable(answer: Answer, title: string) {
  const { chunks, family, memory, p, peak, peaks } = answer;
  const most = Math.max(...memory);
  const uneven = memory.some((each) => each !== most);
  const rows = memory.map((each, rank) => {
    const { ratio, memory: mean } = arithmetic(answer, rank);
    return h(
      "tr",
      { class: uneven && each === most ? "is-most" : null },
      ...rowCells(
        t("rank {rank}", { rank }),
        chunks > 1
          ? h(
              "td.lives",
              ...livesOf(answer, rank).flatMap((life, chunk) => [
                chunk ? " + " : "",
                h("span", { class: `life-key-${chunk % 2}`, text: life }),
              ]),
            )
          : null,
        h("td", `${ratio} = `, h("b", { text: mean })),
        peaks[rank],
      ),
    );
  });
  const worth = peak / chunks;
  const micro = worth === 1 ? t("1 micro-batch") : t("{worth} micro-batches", { worth });
  const atOnce =
    chunks > 1 ? t("most at once: {peak} chunks = {micro}", { peak, micro }) : t("most at once: {micro}", { micro });
  const total = family === "1f1b" ? atOnce : t("{most}; 1F1B holds p = {p}", { most: atOnce, p });
  return h(
    "table.block-arithmetic",
    hiddenCaption(
      t("{title}: for how many slots each device keeps a micro-batch's activations, over the period", { title }),
    ),
    tableHead(
      t("device"),
      chunks > 1 ? h("th.lives", { scope: "col", text: t("slots kept") }) : null,
      chunks > 1 ? t("/ period = chunks") : t("slots / period = chunks"),
      t("peak"),
    ),
    h("tbody", ...rows),
    h("tfoot", h("tr", h("td", { colspan: chunks > 1 ? 4 : 3, text: total }))),
  );
}

/** When each op of micro-batch k runs: the drawing in words and numbers. */
export function slotTable(answer: Answer, title: string) {
  const { backward, block, chunks } = answer;
  const kinds = backward === "full" ? ["F", "B"] : ["F", "I", "W"];
  const columns = Array.from({ length: chunks }, (_, chunk) =>
    kinds.map((kind) => (chunks > 1 ? t("{kind}, chunk {chunk}", { kind, chunk }) : kind)),
  ).flat();
  return h(
    "table.lined.grid-table.block-slots",
    h("caption", {
      text: t("{title}: the slot in which each op of micro-batch k starts; the next one's is {period} later", {
        title,
        period: block.period,
      }),
    }),
    tableHead(t("device"), ...columns),
    h(
      "tbody",
      ...block.slots.map((device, rank) =>
        tableRow(t("rank {rank}", { rank }), ...device.flatMap((slots) => kinds.map((_, at) => slots[at]))),
      ),
    ),
  );
}
