"""The cluster on the page: hosts, their ranks, latencies between neighbours, and the messages when something is missing
or lost. The runner is a fake that sends the events of one on Ray."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.conftest import Server, launch
from tests.page.app.test_axe import violations
from tests.page.conftest import lasting
from tests.page.runs.test_run import ended
from tests.support.page.queries import Open, wait, wait_url

pytestmark = pytest.mark.one_document


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server whose runner has a cluster of three hosts."""
    with lasting(launch(tmp_path_factory.mktemp("hosts"), "--cluster", "--pause", "0.1")) as made:
        yield made


# What the cluster's table says while the run has its four ranks, which is not for long.
DURING = """(() => {
  const said = (node) => node?.innerText.split(/\\s+/).join(' ').trim() ?? '';
  const row = said(document.querySelector("#cluster [data-host='worker-1']"));
  return said(document.getElementById('cluster')).includes('4 of 8 cores free')
    && row === 'worker-1 10.77.0.2 · 12.9 GB free 2 of 4 in use – rank 0 rank 2';
})()"""


def host_row(page: Page, host: str) -> str:
    """A row of the cluster's table, its cells one after the other."""
    return " ".join(page.locator(f"#cluster [data-host='{host}']").inner_text().split())


def test_the_hosts_of_a_run_and_their_free_cores_are_shown_and_its_measured_hop_can_be_put_in_the_plan(
    open_page: Open, hosts: Server
) -> None:
    page = open_page("?family=1f1b&p=4&m=6&tab=run", url=hosts.url)
    panel = page.locator("#cluster")
    expect(panel).to_contain_text("8 of 8 cores free · 2 of 2 GPUs free")
    page.select_option("#run-spread", "spread")
    page.select_option("#run-hops", "measured")
    page.click("#run")
    wait(page, DURING)
    assert ended(page) == "finished"
    expect(panel).to_contain_text("8 of 8 cores free")
    expect(page.locator(".lane-head[data-lane=run]")).to_contain_text("2 hosts")
    row = page.evaluate("bubbleline.point('run', 3, 0)")
    page.mouse.move(row["x"] - 10, row["y"])
    expect(page.locator("#plot")).to_have_attribute("title", "Rank 3 on worker-2 · Pin rank 3 on top")
    assert violations(page, "#stage", "#drawer") == []
    assert panel.locator(".hops li").first.inner_text().split("\n")[-2:] == ["worker-1 to worker-2", "182 (+9) µs"]
    facts = page.locator(".run-facts")
    for words in (
        "worker-1: 0, 2 · worker-2: 1, 3",
        "Clocks agree within",
        "±21.4 µs",
        "the plan's hop is the longest, 0.182",
    ):
        expect(facts).to_contain_text(words)
    chosen = [page.input_value(f"#run-{name}") for name in ("spread", "arrange", "hops")]
    assert chosen == ["spread", "given", "measured"]
    page.focus("#use-hops")
    page.keyboard.press("Enter")
    wait(page, "bubbleline.state().spec.costs.comm === 0.182")
    wait_url(page, "comm=0.182")
    page.select_option("#run-mode", "free")
    expect(page.locator("#run-hops")).to_be_disabled()


def test_the_resources_that_a_run_waits_for_are_named_also_in_chinese_and_on_a_phone(
    open_page: Open, hosts: Server
) -> None:
    query = "?family=1f1b&p=4&m=109&tab=run&lang=zh&theme=dark"
    page = open_page(query, url=hosts.url, width=360, height=800, anew=True)
    expect(page.locator("#cluster")).to_contain_text("集群")
    page.click("#run")
    expect(page.locator(".cluster-waiting")).to_contain_text("2 of 4 ranks have a place")
    expect(page.locator("#panel-run")).to_contain_text("运行正在等待集群中的位置。")
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    box = page.locator("#cluster").bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 360
    assert violations(page, "#stage", "#drawer") == []
    page.click("#cancel")
    assert ended(page) == "cancelled"
    expect(page.locator(".cluster-waiting")).to_be_hidden()


def test_a_lost_host_is_shown_with_its_ranks_and_a_lost_server_is_shown(
    open_page: Open, start: Callable[..., Server]
) -> None:
    server = start("--cluster")
    page = open_page("?family=1f1b&p=4&m=110&tab=run", url=server.url, forgive="net::ERR_")
    page.click("#run")
    assert ended(page) == "failed"
    expect(page.locator("#panel-run")).to_contain_text("host worker-2 (10.77.0.3) was lost")
    expect(page.locator("#cluster [data-host='worker-2']")).to_contain_text("✗ lost")
    assert host_row(page, "worker-2") == "worker-2 10.77.0.3 ✗ lost its health check failed rank 2 rank 3"
    expect(page.locator(".cluster-head > .muted")).to_have_text("2 of 3 hosts · 4 of 4 cores free")
    server.stop()
    expect(page.locator(".cluster-waiting")).to_contain_text("connection to the server is lost")
