"""Kernels that other kernels call: numba sees a kernel's compiled twin where a kernel's code names it.

Knows what a kernel is (jit.py) and nothing of what is computed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from backend.schedule.jit import Kernel

P = ParamSpec("P")
R = TypeVar("R")


class Inner(Kernel[P, R]):
    """A kernel for other kernels of its own file, which stand behind it. Of its own file only: numba compiles it into
    its callers, and from its cache on disk takes a caller again unless the caller's file has changed."""

    @property
    def _numba_type_(self) -> Any:
        """What numba asks an object for that it finds in the code it compiles."""
        if self.compiled is None:
            raise AttributeError("_numba_type_")
        import numba

        return numba.typeof(self.compiled)  # type: ignore[no-untyped-call]


def inner(signature: str) -> Callable[[Callable[P, R]], Inner[P, R]]:
    """Mark a function as a kernel that other kernels call."""
    return lambda function: Inner(function, signature)
