// The devices of the server, and which device and mode a run uses by its number of ranks.
import { h, isNew, replace } from "../../ui/dom.ts";
import { tableHead, tableRow } from "../../ui/table.ts";
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
  return {
    node,
    show(known: Devices | null) {
      if (!isNew(node, known)) return;
      node.hidden = !known?.devices.length;
      if (known) replace(body, deviceTable(known.devices), choiceTable(known.choices));
    },
  };
}

const deviceTable = (devices: Device[]) =>
  table(
    [t("device"), t("name"), "", t("total memory")],
    devices.map((each) =>
      tableRow(
        [each.host, each.kind === "cuda" ? ["cuda", each.index ?? 0].join(":") : each.kind].filter(Boolean).join(" "),
        each.name ?? "",
        h("td.num", { text: aboutDevice(each) }),
        h("td.num", { text: each.memory ? formatBytes(each.memory) : "–" }),
      ),
    ),
  );

function aboutDevice({ kind, cores, capability }: Device) {
  if (kind === "cpu") return t("{n} cores", { n: cores ?? 1 });
  return capability ? t("compute capability {version}", { version: capability }) : "";
}

const choiceTable = (choices: Choice[]) =>
  table(
    [t("ranks"), t("runs on"), t("mode"), t("why")],
    choices.map(({ from, to, device, mode }) =>
      tableRow(
        from === to ? String(from) : t("{from} to {to}", { from, to }),
        device,
        modeName(mode),
        mode === "paced" ? t("ranks share cores, so each op is held to its planned time") : t("each rank has its own"),
      ),
    ),
  );

const table = (names: string[], rows: HTMLElement[]) =>
  h("table.lined.sweep", tableHead(...names.map((name) => name || h("td"))), h("tbody", ...rows));
