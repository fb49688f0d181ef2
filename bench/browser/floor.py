"""The floor of every figure of input to painted frame: a page that fills a canvas of the same size and does nothing
else, moved by the same events and timed by the same clock.
"""

from __future__ import annotations

from playwright.sync_api import Browser, Page

PAGE = """<!doctype html><style>
body { margin: 0 } input { display: block; width: 152px; margin: 20px 0 0 20px }
</style>
<input type="range" id="field-m-slider" min="0" max="400" value="8"><canvas id="plot"></canvas>
<script>
const [slider, plot] = [document.querySelector('input'), document.querySelector('canvas')];
[plot.width, plot.height] = [WIDTH, HEIGHT];
const ctx = plot.getContext('2d', { alpha: false });
const [inputs, waiting] = [[], []];
const channel = new MessageChannel();
channel.port1.onmessage = () => {
  const now = performance.now();
  for (const at of waiting.splice(0)) inputs.push(now - at);
};
let asked = false;
slider.addEventListener('input', (event) => {
  waiting.push(event.timeStamp);
  if (asked) return;
  asked = true;
  requestAnimationFrame(() => {
    asked = false;
    ctx.fillStyle = `hsl(${slider.value} 60% 50%)`;
    ctx.fillRect(0, 0, plot.width, plot.height);
    channel.port2.postMessage(null);
  });
});
window.bubbleline = { samples: { inputs: () => inputs.slice(), clear: () => (inputs.length = 0) } };
</script>"""


def open_floor(browser: Browser, like: Page) -> Page:
    """Open the floor's page, with a canvas as large as the plot of a page."""
    box = like.locator("#plot").bounding_box()
    assert box is not None
    page = browser.new_context(viewport=like.viewport_size, reduced_motion="reduce").new_page()
    page.set_content(PAGE.replace("WIDTH", str(round(box["width"]))).replace("HEIGHT", str(round(box["height"]))))
    return page
