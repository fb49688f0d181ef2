"""What carries messages of classes from one process of a server to the others; nothing, where there is only one."""

from __future__ import annotations

from typing import Any, Protocol


class Channel(Protocol):
    """The way to the other processes of a server."""

    def listen(self) -> None:
        """Begin to hear what others tell."""

    def post(self, code: str, told: dict[str, Any]) -> bool:
        """Tell the other processes; return whether they could be reached."""

    def stop(self) -> None:
        """Hear nothing more."""


class Alone:
    """The channel of a server of one process."""

    def listen(self) -> None:
        """Do nothing."""

    def post(self, code: str, told: dict[str, Any]) -> bool:
        """Return True: there is nobody to tell."""
        return True

    def stop(self) -> None:
        """Do nothing."""
