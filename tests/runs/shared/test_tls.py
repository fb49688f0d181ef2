"""Redis behind TLS: processes share it as any other, and a certificate that is not trusted is refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.config import Config, ConfigError
from backend.runs.run import OVER
from backend.web.shared.connection import close, connect
from backend.web.shared.tls import TlsError
from tests.conftest import until
from tests.support.servers.certificates import make_certificate
from tests.support.servers.redis_server import RedisServer


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return make_certificate(tmp_path_factory.mktemp("certificate"), "IP:127.0.0.1")


@pytest.fixture(scope="module")
def secure(certificate: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """A Redis that takes connections with TLS only."""
    started = RedisServer(tmp_path_factory.mktemp("redis"), certificate)
    yield started
    started.kill()


def test_a_run_goes_through_a_redis_with_tls(start, secure: RedisServer):
    server = start(BUBBLELINE_REDIS=secure.url)
    until(lambda: server.get("/readyz").ok and server.ready())
    run_id = server.start_run()
    until(lambda: server.run(run_id)["status"] in OVER)
    assert server.run(run_id)["status"] == "finished"


def test_a_certificate_that_is_not_trusted_is_refused_with_the_way_out(start, tmp_path: Path, secure: RedisServer):
    server = start(BUBBLELINE_REDIS=secure.url.partition("?")[0])
    log = tmp_path / "server.log"

    def redis_now() -> dict:
        return server.get("/readyz").json()["redis"]

    until(lambda: not redis_now()["ok"])
    why = redis_now()["why"]
    assert f"127.0.0.1:{secure.port} cannot be used: its certificate is not trusted (self-signed certificate)" in why
    assert "ssl_ca_certs=/PATH/ca.pem" in why
    until(lambda: log.read_text().count("its certificate is not trusted") >= 2)  # the other process says so too
    assert server.get("/").ok
    server.stop()
    assert "Traceback" not in log.read_text()


def test_what_the_settings_of_an_address_allow_and_forbid(secure: RedisServer, certificate, tmp_path: Path):
    plain = secure.url.partition("?")[0]
    chain, key = certificate
    (other := tmp_path / "other").mkdir()
    unrelated, _ = make_certificate(other, "IP:127.0.0.1")

    def answers(address: str) -> bool:
        client = connect(address)
        try:
            return bool(client.ping())
        finally:
            close(client)

    assert answers(secure.url)
    assert answers(f"{secure.url}&ssl_certfile={chain}&ssl_keyfile={key}"), "a certificate of the client's own"
    assert answers(f"{plain}?ssl_cert_reqs=none")
    assert answers(f"{secure.url.replace('127.0.0.1', 'localhost')}&ssl_check_hostname=false")
    for address, why in (
        (secure.url.replace("127.0.0.1", "localhost"), "is not for localhost"),
        (f"{plain}?ssl_ca_certs={unrelated}", "is not trusted"),
        (f"{plain}?ssl_ca_certs={key}", f"ssl_ca_certs: {key} cannot be read"),
        (f"{secure.url}&ssl_certfile={unrelated}&ssl_keyfile={key}", f"ssl_certfile: {unrelated} cannot be read"),
    ):
        with pytest.raises(TlsError, match=why):
            answers(address)


def test_a_redis_without_tls_is_named_as_such(redis_server: RedisServer):
    address = redis_server.url.replace("redis:", "rediss:")
    with pytest.raises(TlsError, match="does not speak TLS on this port"):
        connect(f"{address}?socket_connect_timeout=5").ping()


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("redis://:secret@host:port/0", "or rediss:// with TLS"),
        ("redis://:secret@host/0?ssl_cert_reqs=none", "write rediss://"),
        ("rediss://:secret@host/0?ssl_ca_cert=/etc/ca.pem", "the setting ssl_ca_cert behind the ? that is unknown"),
        ("redis://u:1?secret=@host/0", "a setting behind the ?"),
        ("REDIS://:secret@host/0", "must be redis://"),
        ("rediss://:secret@host/0?ssl_ca_certs=/nowhere/ca.pem", "full path of a file that is there"),
        ("rediss://:secret@host/0?ssl_cert_reqs=never", "required or optional or none"),
        (f"rediss://:secret@host/0?ssl_keyfile={__file__}", "without ssl_certfile"),
    ],
)
def test_a_wrong_address_is_refused_before_the_server_starts(address: str, words: str):
    with pytest.raises(ConfigError, match="BUBBLELINE_REDIS") as refused:
        Config.from_env({"BUBBLELINE_REDIS": address})
    assert words in str(refused.value)
    assert "secret" not in str(refused.value)
