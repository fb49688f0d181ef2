"""Certificates for servers of the tests, made with openssl."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest


def make_certificate(folder: Path, *names: str) -> tuple[Path, Path]:
    """Write a certificate for these names (`DNS:localhost`, `IP:127.0.0.1`) that signs itself; return it and its key.

    Skips the test where openssl is not installed.
    """
    program = shutil.which("openssl")
    if program is None:
        pytest.skip("openssl is not installed; on Debian: apt-get install openssl")
    chain, key = folder / "chain.pem", folder / "key.pem"
    subprocess.run(
        [program, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", f"/CN={names[0].partition(':')[2]}", "-addext", f"subjectAltName={','.join(names)}",
         "-keyout", key, "-out", chain],
        check=True, capture_output=True,
    )  # fmt: skip
    return chain, key
