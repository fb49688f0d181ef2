"""The schedule core: schedules, their times, memory and laws. numpy and numba only; no web, no torch, no I/O.

Each of these may import those before it: errors, jit; order; simulation; options; laws; spec; search; families;
hardware; result; interop, analysis; partial_order.
"""
