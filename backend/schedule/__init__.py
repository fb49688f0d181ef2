"""The pure core: schedules, their times, memory and laws. numpy and numba only; no web, no torch, no I/O."""
