"""Kernels: one source for interpreted and compiled execution.

A kernel is a plain Python function over numpy arrays. It runs interpreted until ``compile_all`` has compiled it with
numba (from numba's cache on disk after the first time), so that nothing waits for compilation: a server answers its
first request interpreted and compiles in a thread of its own.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable
from typing import Any, ClassVar, Generic, ParamSpec, TypeVar, get_args, get_type_hints

P = ParamSpec("P")
R = TypeVar("R")
Signature = tuple[str | type, ...]

# Below this many ops an interpreted run takes less time than the import of numba (about 0.5 s).
COMPILE_FROM_OPS = 50_000

# The modules that have kernels, named here because `compile_all` must find those too that nothing has imported yet.
MODULES = tuple(
    f"{__package__}.{name}"
    for name in (
        "families.v_shape.unit_slots",
        "families.v_shape.zb_v_greedy",
        "options.offload",
        "options.vocabulary",
        "order.repeats",
        "search.construction",
        "search.device_relaxation",
        "search.moves",
        "simulation.memory",
        "simulation.periodic",
        "simulation.simulate",
        "simulation.timeline",
    )
)

_kernels: list[Kernel[Any, Any]] = []
_lock = threading.Lock()


class Kernel(Generic[P, R]):
    """A function that calls its compiled version once there is one."""

    def __init__(self, function: Callable[P, R], signature: Signature) -> None:
        self.interpreted = function
        self.signature = signature
        self.compiled: Callable[P, R] | None = None
        self.__doc__ = function.__doc__
        _kernels.append(self)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return (self.compiled or self.interpreted)(*args, **kwargs)


def kernel(*signature: str | type) -> Callable[[Callable[P, R]], Kernel[P, R]]:
    """Mark a function as a kernel.

    ``signature`` is numba's, such as "int64(float64[::1])", so that compiling needs no sample call. Or it is each
    argument's type, which may be a named tuple whose fields are ``Annotated`` with theirs: pass it as a plain tuple.
    """
    return lambda function: Kernel(function, signature)


class Inner(Kernel[P, R]):
    """A kernel that other kernels of its own file call.

    Only of its own file: numba compiles it into its callers, and takes a caller again from its cache on disk unless
    the caller's file has changed.
    """

    @property
    def _numba_type_(self) -> Any:
        """Return the type that numba requests of an object in the code it compiles."""
        if self.compiled is None:
            raise AttributeError("_numba_type_")
        import numba

        return numba.typeof(self.compiled)  # type: ignore[no-untyped-call]


def inner(*signature: str | type) -> Callable[[Callable[P, R]], Inner[P, R]]:
    """Mark a function as a kernel that other kernels call."""
    return lambda function: Inner(function, signature)


class Inline(Generic[P, R]):
    """A function that numba copies into the kernels of its own file that call it, so that a call in an inner loop does
    not count references to the arrays passed.
    """

    targetoptions: ClassVar = {"inline": "always"}  # read by numba

    def __init__(self, function: Callable[P, R]) -> None:
        self.interpreted = function
        self.py_func = function  # read by numba
        self._dispatcher: Any = None  # kept, because a type refers to it weakly
        self.__doc__ = function.__doc__

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.interpreted(*args, **kwargs)

    @property
    def _numba_type_(self) -> Any:
        """Return a type for the object itself, which is no longer called where it was inlined."""
        import numba

        self._dispatcher = self._dispatcher or numba.njit(self.interpreted)
        return numba.typeof(self._dispatcher)  # type: ignore[no-untyped-call]


def ready() -> bool:
    """Return whether every kernel is compiled."""
    return all(each.compiled is not None for each in _kernels)


def compile_all() -> None:
    """Compile every kernel (or load it from the cache). Takes seconds the first time, then well under one."""
    with _lock:
        for module in MODULES:
            importlib.import_module(module)
        if ready():
            return
        import numba

        for each in _kernels:
            if each.compiled is None:
                each.compiled = numba.njit(_numba_signature(each.signature), cache=True, nogil=True)(each.interpreted)


def _numba_signature(signature: Signature) -> Any:
    """Return a kernel's signature as numba takes it."""
    first, *_ = signature
    return first if isinstance(first, str) and "(" in first else tuple(_numba_type(each) for each in signature)


def _numba_type(kind: str | type) -> Any:
    """Return numba's type of an argument. That of a named tuple is a plain tuple, since numba's cache on disk could no
    longer be read after a change of the class's name.
    """
    from numba.core import sigutils, types

    if isinstance(kind, str):
        return sigutils.normalize_signature(f"void({kind})")[0][0]  # type: ignore[no-untyped-call]
    fields = get_type_hints(kind, include_extras=True).values()
    return types.Tuple([_numba_type(get_args(field)[1]) for field in fields])  # type: ignore[no-untyped-call]


def compile_for(ops: int) -> None:
    """Compile the kernels if ``ops`` ops justify the time."""
    if ops >= COMPILE_FROM_OPS:
        compile_all()
