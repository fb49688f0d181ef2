"""What pages ask of other machines is noticed, whoever asks, and reaches none of them."""

from __future__ import annotations

from playwright.sync_api import Browser

from tests.support.page.other_machines import OtherMachines
from tests.support.page.queries import wait_until

ASK = {
    "http://192.0.2.1/image": "new Image().src = 'http://192.0.2.1/image'",
    "frame.test:443": "document.body.append(Object.assign(document.createElement('iframe'), "
    "{ src: 'https://frame.test' }))",
    "worker.test:443": "new Worker(URL.createObjectURL(new Blob([`fetch('https://worker.test').catch(() => 0)`])))",
    "beacon.test:443": "navigator.sendBeacon('https://beacon.test')",
    "socket.test:443": "new WebSocket('wss://socket.test')",
}


def test_what_pages_frames_and_workers_ask_of_another_machine_is_noticed(
    browser: Browser, outside: OtherMachines
) -> None:
    page = browser.new_page()
    for ask in ASK.values():
        page.evaluate(f"() => {{ {ask} }}")
    wait_until(page, lambda: {line.split()[1] for line in outside.asked} >= set(ASK))
    page.close()
    outside.asked.clear()
