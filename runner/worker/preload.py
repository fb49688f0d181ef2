"""What a fork server loads for its workers. Nothing of it is garbage, so none is looked for while it loads, nor later:
that takes a third of the time to import torch and to end the server, and would copy the pages that its forks share.
"""

from __future__ import annotations

import gc
import importlib

gc.disable()
importlib.import_module(f"{__package__}.process")
gc.freeze()
gc.enable()
