"""The first screen on a slow line: when its texts and its picture are painted, when the script has drawn over it, and
how much of it moves meanwhile.
"""

from __future__ import annotations

from playwright.sync_api import Browser

LATENCY_MS, BYTES_PER_S = 400, 50_000
SIZES = ((390, 844), (768, 1024), (1024, 768), (1440, 900))
DRAWN = "window.bubbleline && bubbleline.samples.firstPaint()"
SHIFT = """() => {
  const observer = new PerformanceObserver(() => {});
  observer.observe({ type: 'layout-shift', buffered: true });
  return observer.takeRecords().reduce((sum, { value }) => sum + value, 0);
}"""


def print_first_screen(browser: Browser, address: str) -> None:
    """Open the bare address at each size, with an empty cache, and print its times in ms and its layout shift."""
    print(f"\nfirst screen at {BYTES_PER_S // 1000} kB/s, {LATENCY_MS} ms{'':<12} painted   drawn   shift")
    for width, height in SIZES:
        context = browser.new_context(viewport={"width": width, "height": height}, reduced_motion="reduce")
        page = context.new_page()
        line = context.new_cdp_session(page)
        line.send("Network.enable")
        speed = {"offline": False, "latency": LATENCY_MS, "downloadThroughput": BYTES_PER_S,
                 "uploadThroughput": BYTES_PER_S}  # fmt: skip
        line.send("Network.emulateNetworkConditions", speed)
        page.goto(address)
        while not page.evaluate(DRAWN):
            page.wait_for_timeout(20)
        painted = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        print(f"{f'{width} x {height}':<44} {painted:7.0f} {page.evaluate(DRAWN):7.0f} {page.evaluate(SHIFT):7.3f}")
        context.close()
