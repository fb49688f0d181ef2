// The cluster of the runner: its hosts with their free and busy cores, the ranks on each, the latency between
// neighbours, and the resources that a run waits for. Hidden where the engine is local.
import { h, isNew, replace, setText, show } from "../../ui/dom.ts";
import { setNote } from "../../ui/notes.ts";
import { hiddenCaption, tableHead } from "../../ui/table.ts";
import { busyOf, latencyRange, latencyText, roomOf } from "../../core/measured/cluster.ts";
import { t, tr } from "../../core/i18n/language.ts";
import { formatBytes } from "../../core/i18n/numbers.ts";
import type { Cluster, Host, Link, Room } from "../../core/measured/cluster.ts";

const CELLS = 16; // cores or GPUs of a host; with more, its bar has no cell for each
const OPEN = 8; // hops; a longer list is closed at first

export function createClusterPanel() {
  const about = h("span.muted");
  const address = h("span.fine", { title: t("Address of the cluster") });
  const trouble = h("p.note.bad", { role: "alert", hidden: true });
  const waiting = h("p.note.cluster-waiting", { role: "status", hidden: true });
  const hosts = h("div.cluster-hosts");
  const hopsTitle = h("summary");
  const hopsList = h("ol.hops");
  const hops = h("details.cluster-hops", { hidden: true }, hopsTitle, hopsList);
  const node = h(
    "section#cluster.cluster",
    { "aria-label": t("Cluster"), hidden: true },
    h("div.row.cluster-head", h("h2", { text: t("Cluster") }), address, about),
    trouble,
    waiting,
    hosts,
    hops,
  );
  let lost = false;
  let counted = -1; // the hops that were listed last

  function draw({
    address: where = "",
    state = "",
    why = "",
    hosts: all = [],
    links = [],
    waiting: wanted = "",
  }: Cluster) {
    const gone = state === "lost";
    node.classList.toggle("is-lost", gone || lost);
    setText(about, all.length && !gone ? summary(all) : "");
    setText(address, where);
    setNote(trouble, gone ? t("The cluster is lost: {why}", { why: tr(why) || t("no reason given") }) : "");
    setNote(
      waiting,
      lost
        ? t("The connection to the server is lost: this is the last known state.")
        : wanted && !gone
          ? t("Waiting: {what}", { what: tr(wanted) })
          : state
            ? ""
            : t("The runner is joining the cluster."),
    );
    replace(hosts, all.length ? hostTable(all) : "");
    show(hops, links.length > 0);
    if (!links.length) return;
    setText(hopsTitle, t("Hops between neighbouring ranks: {range}", { range: latencyRange(links) }));
    if (counted !== links.length) hops.open = links.length <= OPEN;
    counted = links.length;
    const most = Math.max(...links.map(({ latency_ns: latency }) => latency));
    replace(hopsList, ...links.map((link) => hop(link, most)));
  }

  let last: Cluster = { engine: "" };
  const redraw = () => {
    if (isNew(node, [last, lost])) draw(last);
  };

  return {
    node,
    show(cluster: Cluster) {
      last = cluster;
      show(node, cluster.engine === "ray");
      redraw();
    },
    /** isLost: the connection to the server. */
    setLost(isLost: boolean) {
      lost = isLost;
      redraw();
    },
  };
}

/** "2 of 3 hosts · 6 of 8 cores free". */
function summary(all: Host[]) {
  const there = all.filter(({ alive }) => alive).length;
  const [cores, gpus] = [roomOf(all, "cpus"), roomOf(all, "gpus")];
  return [
    there < all.length ? t("{n} of {all} hosts", { n: there, all: all.length }) : "",
    t("{free} of {total} cores free", cores),
    gpus.total ? t("{free} of {total} GPUs free", gpus) : "",
  ]
    .filter(Boolean)
    .join(" · ");
}

function hostTable(all: Host[]) {
  const gpus = all.some((host) => host.gpus?.total);
  const heads = [t("host"), t("CPU cores"), ...(gpus ? ["GPU"] : []), t("ranks")];
  return h(
    "table.lined.hosts",
    hiddenCaption(t("Hosts of the cluster, their use, and the ranks of the present or last run")),
    tableHead(...heads),
    h("tbody", ...all.map((host) => hostRow(host, gpus))),
  );
}

/** gpus: whether any host has some. */
function hostRow({ name, address, alive, why, head, cpus, gpus: cards, memory, ranks }: Host, gpus: boolean) {
  const free = alive && memory?.total ? t("{bytes} free", { bytes: formatBytes(memory.free) }) : "";
  const named = h(
    "th",
    { scope: "row" },
    h("b", { text: name }),
    head && name !== "head" ? h("span.badge.host-tag", { text: t("head") }) : "",
    h("small", {
      text: [address, free].filter(Boolean).join(" · "),
      title: memory?.total ? t("{bytes} of memory in total", { bytes: formatBytes(memory.total) }) : null,
    }),
  );
  const rooms = alive
    ? [
        h("td", { "data-label": t("CPU cores") }, ...roomBar(cpus)),
        ...(gpus ? [h("td", { "data-label": "GPU" }, ...roomBar(cards))] : []),
      ]
    : [h("td.host-lost", { colspan: gpus ? 2 : 1 }, `✗ ${t("lost")}`, why ? h("small", { text: tr(why) }) : "")];
  return h(
    "tr",
    { class: alive ? null : "is-gone", "data-host": name },
    named,
    ...rooms,
    h(
      "td",
      { "data-label": t("ranks"), class: ranks?.length ? "host-ranks" : "host-ranks is-none" },
      ...(ranks?.length ? ranks.map(chip) : ["–"]),
    ),
  );
}

/** A rank as the timeline's gutter has it. */
const chip = (rank: number) =>
  h("span.chip", { title: t("Rank {rank}", { rank }) }, h("span.visually-hidden", { text: `${t("rank")} ` }), rank);

/** Use of a resource: a cell for each core or GPU, or a share, and the numbers. */
function roomBar(room: Room | undefined) {
  if (!room?.total) return [h("span.room-none", { text: "–" })];
  const { total } = room;
  const busy = busyOf(room);
  const cells =
    total <= CELLS && Number.isInteger(total)
      ? Array.from({ length: total }, (_, at) => h("i", { class: at < busy ? "busy" : null }))
      : [shareBar(busy / total)];
  return [
    h("span", { class: cells.length > 1 || total <= CELLS ? "room" : "room whole", "aria-hidden": "true" }, ...cells),
    h("small", { text: busy ? t("{busy} of {total} in use", { busy, total }) : t("{total} free", { total }) }),
  ];
}

function shareBar(share: number) {
  const bar = h("i.busy");
  bar.style.width = `${Math.round(100 * share)}%`;
  return bar;
}

/** most: ns of the longest. */
function hop(link: Link, most: number) {
  const [from, to] = link.hosts ?? [];
  const where = !from ? "" : from === to ? t("within {host}", { host: from }) : t("{from} to {to}", { from, to });
  const bar = h("i");
  bar.style.width = `${Math.max(2, Math.round((100 * link.latency_ns) / most))}%`;
  return h(
    "li",
    { class: from === to ? null : "apart" },
    h("span.hop-ranks", chip(link.from), h("span", { "aria-hidden": "true", text: "→" }), chip(link.to)),
    h("span.cut.hop-where", { text: where, title: where || null }),
    h("span.hop-bar", { "aria-hidden": "true" }, bar),
    h("b", {
      text: latencyText(link),
      title: t(
        "One way: half of the fastest round trip of a small message; in brackets, how much longer half of the " +
          "median one took",
      ),
    }),
  );
}
