// The devices of the server, and which device and mode a run uses by its number of ranks.
import { h, replace } from "../../ui/dom.ts";
import { t } from "../../core/i18n/language.ts";
import { formatBytes } from "../../core/i18n/numbers.ts";
import { modeName } from "../../data/runs/run_titles.ts";
import type { Choice, Device, Devices } from "../../core/measured/devices.ts";

/** A list that opens on demand; hidden until the runner has reported its devices. */
export function createDeviceList() {
  const body = h("div.row.devices-body");
  const node = h(
    "details#run-devices.devices",
    { hidden: true },
    h("summary", { text: t("Devices of this server") }),
    body,
  );
  let shown = "";
  return {
    node,
    show(known: Devices | null) {
      const key = JSON.stringify(known);
      if (key === shown) return;
      shown = key;
      node.hidden = !known?.devices.length;
      if (known) replace(body, deviceTable(known.devices), choiceTable(known.choices));
    },
  };
}

function deviceTable(devices: Device[]) {
  const rows = devices.map((each) =>
    h(
      "tr",
      h("th", {
        scope: "row",
        text: [each.host, each.kind === "cuda" ? ["cuda", each.index ?? 0].join(":") : each.kind]
          .filter(Boolean)
          .join(" "),
      }),
      h("td", { text: each.name ?? "" }),
      h("td.num", {
        text:
          each.kind === "cpu"
            ? t("{n} cores", { n: each.cores ?? 1 })
            : each.capability
              ? t("compute capability {version}", { version: each.capability })
              : "",
      }),
      h("td.num", { text: each.memory ? formatBytes(each.memory) : "–" }),
    ),
  );
  return table([t("device"), t("name"), "", t("total memory")], rows);
}

function choiceTable(choices: Choice[]) {
  const rows = choices.map(({ from, to, device, mode }) =>
    h(
      "tr",
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

const table = (names: string[], rows: HTMLElement[]) =>
  h(
    "table.lined.sweep",
    h("thead", h("tr", ...names.map((text) => (text ? h("th", { scope: "col", text }) : h("td"))))),
    h("tbody", ...rows),
  );
