// What there is to run on here, and what a run of so many ranks makes of it unless another device or pace is asked for.
import { h, replace } from "../../ui/dom.js";
import { t } from "../../core/i18n/language.js";
import { formatBytes } from "../../core/i18n/numbers.js";
import { modeName } from "./facts.js";

/** @import {Choice, Device, Devices} from "../../core/measured/devices.js" */

/** A list that opens on demand; empty until the runner has said what there is. */
export function createDeviceList() {
  const body = h("div", { class: "devices-body" });
  const node = h(
    "details",
    { class: "devices", id: "run-devices", hidden: true },
    h("summary", { text: t("Devices of this server") }),
    body,
  );
  let shown = "";
  return {
    node,
    /** @param {Devices | null} told */
    show(told) {
      const key = JSON.stringify(told);
      if (key === shown) return;
      shown = key;
      node.hidden = !told?.devices.length;
      if (told) replace(body, deviceTable(told.devices), choiceTable(told.choices));
    },
  };
}

/** @param {Device[]} devices */
function deviceTable(devices) {
  const rows = devices.map((each) =>
    h(
      "tr",
      {},
      h("th", {
        scope: "row",
        text: [each.host, each.kind === "cuda" ? ["cuda", each.index ?? 0].join(":") : each.kind]
          .filter(Boolean)
          .join(" "),
      }),
      h("td", { text: each.name ?? "" }),
      h("td", {
        class: "num",
        text:
          each.kind === "cpu"
            ? t("{n} cores", { n: each.cores ?? 1 })
            : each.capability
              ? t("compute capability {version}", { version: each.capability })
              : "",
      }),
      h("td", { class: "num", text: each.memory ? formatBytes(each.memory) : "–" }),
    ),
  );
  return table([t("device"), t("name"), "", t("total memory")], rows);
}

/** @param {Choice[]} choices */
function choiceTable(choices) {
  const rows = choices.map(({ from, to, device, mode }) =>
    h(
      "tr",
      {},
      h("th", { scope: "row", text: from === to ? String(from) : t("{from} to {to}", { from, to }) }),
      h("td", { text: device }),
      h("td", { text: modeName(mode) }),
      h("td", {
        text:
          mode === "paced"
            ? t("ranks share cores, so each op is held to its planned time")
            : t("each rank has its own"),
      }),
    ),
  );
  return table([t("ranks"), t("runs on"), t("mode"), t("why")], rows);
}

/** @param {string[]} names @param {HTMLElement[]} rows */
const table = (names, rows) =>
  h(
    "table",
    { class: "sweep" },
    h("thead", {}, h("tr", {}, ...names.map((text) => (text ? h("th", { scope: "col", text }) : h("td"))))),
    h("tbody", {}, ...rows),
  );
