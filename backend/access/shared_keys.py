"""The secrets of servers that share a database: made once in it, so that each server takes the others' cookies and
tokens.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from backend.access.keys import NAMES, Keys, keys_of, new_secrets, usable
from backend.database.database import Database, DatabaseError

logger = logging.getLogger(__name__)
RETRY_S = 5.0  # between two attempts to read them


class SharedKeys:
    """The secrets in a database. Until it can be used there are others, of this server alone."""

    def __init__(
        self, database: Database, token: str, admin_token: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Read the secrets, or make them; `clock` counts seconds. This may wait for the database."""
        self._database, self._given, self._clock = database, (token, admin_token), clock
        self.lasting = False  # whether these are the secrets in the database
        self._keys = keys_of(new_secrets(), *self._given)
        self._next = clock() + RETRY_S
        self._load()

    def get(self) -> Keys:
        """Return the secrets in use, without waiting: where they are missing, a thread asks for them again."""
        if not self.lasting and self._clock() >= self._next:
            self._next = self._clock() + RETRY_S
            threading.Thread(target=self._load, daemon=True).start()
        return self._keys

    def _load(self) -> None:
        try:
            with self._database.transaction() as transaction:
                for name, value in new_secrets().items():
                    sql = (
                        "INSERT INTO server_secrets (name, value) VALUES (:name, :value) ON CONFLICT (name) DO NOTHING"
                    )
                    transaction.execute(sql, {"name": name, "value": value})
                kept = {
                    str(name): value for name, value in transaction.execute("SELECT name, value FROM server_secrets")
                }
        except DatabaseError as error:
            logger.error("the tokens and the key of cookies cannot be read from the database: %s", error)
            return
        finally:
            self._database.close()  # it is not needed again
        if not usable(kept):
            logger.error("the table server_secrets in %s is damaged: empty it", self._database.location)
            return
        self._keys, self.lasting = keys_of({name: kept[name] for name in NAMES}, *self._given), True
