"""A module whose import takes longer than a quick job may, as those of the server do on a slow machine."""

import time

time.sleep(0.7)
