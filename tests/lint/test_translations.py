"""Every sentence of the server has a Chinese translation: the collected messages, and real responses on the page."""

from __future__ import annotations

import json
import re
from pathlib import Path

from flask.testing import FlaskClient

from backend.address.chart_query import APPEARANCE
from backend.address.query import KEYS
from backend.runs import options
from backend.schedule.families.registry import FAMILIES
from backend.schedule.hardware.cost_model import KEYS as SETTING_KEYS
from backend.schedule.hardware.machines import MACHINES
from backend.schedule.hardware.models import MODELS
from tests.support.node import answers, needs_node
from tests.support.server_answers import texts

TESTS = Path(__file__).parents[1]
WORD = re.compile(r"[A-Za-z](?:[A-Za-z0-9'./_-]*[A-Za-z0-9])?")
CITATION = re.compile(r"arXiv|SOSP|^Sea AI Lab, DualPipe could")

# English that Chinese keeps: words of formats and interfaces, names of products, a term of the field.
KEPT = set(
    re.findall(
        r"\S+",
        """
        rank op flush token FLOP flash attention torch Transformer Megatron-LM DeepSpeed DeepSeek Llama Sea AI Lab MLA
        NVIDIA NVLink InfiniBand PCIe HGX JSON HTTP UTF-8 gzip CSV csv Chrome trace traces traceEvents ph ts dur id
        Content-Type application/json query spec costs true false null format json torch-csv chrome-trace mode auto
        paced free families intra inter none selective full plain redistribute interlaced reload profiler sbh bh ceil
        torch.distributed.pipelining deepseek-ai/DualPipe PipeOffload gpipe-lesson hello chart flow-shop before
        TFLOP/s Infinity NaN Forward softmax make setup DeepSeek-V3 torchtitan Schedule1F1B ScheduleInterleaved1F1B
        ScheduleDualPipeV ScheduleGPipe ScheduleLoopedBFS ScheduleZBVZeroBubble ScheduleInterleavedZeroBubble
        """,
    )
)


def names() -> set[str]:
    """Words of names: families, models, machines, keys, what keys can be, charts."""
    titled = [
        text for shelf in (FAMILIES, MODELS, MACHINES) for each in shelf.values() for text in (each.name, each.title)
    ]
    charts = ["bubble-m", "split", "messages", "bubble", "guide", "machine"]
    ways = [name for family in FAMILIES.values() for name in (*family.vocabulary, family.placement)]
    ways += [*options.KEYS, *options.CHOICES["dtype"], *options.CHOICES["device"]]
    return set(re.findall(WORD, " ".join([*titled, *KEYS, *SETTING_KEYS, *APPEARANCE, *charts, *ways, "limit"])))


@needs_node
def test_every_response_of_the_server_is_translated_to_chinese(client: FlaskClient):
    encoded = {json.dumps(text, sort_keys=True) for text in texts(client) if text}
    asked = [json.loads(text) for text in sorted(encoded)]
    assert len(asked) > 1500, "the questions have lost their answers"
    known, lacking = names() | KEPT, []
    for text, chinese in zip(asked, answers("translate", [asked])[0], strict=True):
        left = {word for word in re.findall(WORD, chinese.replace("<br>", " ")) if re.search("[a-z]{2}", word)} - known
        if left and not CITATION.search(text if isinstance(text, str) else text["message"]):
            lacking.append((text, chinese, left))
    assert not lacking, f"{len(lacking)}: {lacking[:40]}"
