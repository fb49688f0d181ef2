"""The examples of deploy/: the programs they are for accept them, and a page works behind nginx with TLS."""

from __future__ import annotations

import re
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
import websocket

from tests.conftest import PATIENCE_S, Server, until
from tests.support.servers.certificates import make_certificate
from tests.support.sources import ROOT

DEPLOY = ROOT / "deploy"
NAME = "schedules.example.org"


def needs(program: str) -> str:
    """Return the path of a program; skip the test where it is not installed."""
    found = shutil.which(program) or shutil.which(program, path="/usr/sbin:/usr/local/sbin")
    if found is None:
        pytest.skip(f"{program} is not installed; on Debian: apt-get install {program}")
    return found


def free_ports(count: int) -> list[int]:
    listening = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in listening]
    for each in listening:
        each.close()
    return ports


def nginx_of(folder: Path, server: Server, plain: int, secure: int) -> Path:
    """Write the example's configuration, with these ports and a certificate of its own."""
    make_certificate(folder, f"DNS:{NAME}", "DNS:localhost")
    site = (DEPLOY / "nginx.conf").read_text()
    for old, new in (
        (r"server 127\.0\.0\.1:5000", f"server {server.url.removeprefix('http://')}"),
        (r"listen \[::\].*", ""),
        (r"listen 80;", f"listen 127.0.0.1:{plain};"),
        (r"listen 443 ", f"listen 127.0.0.1:{secure} "),
        (rf"/etc/letsencrypt/live/{NAME}/fullchain", f"{folder}/chain"),
        (rf"/etc/letsencrypt/live/{NAME}/privkey", f"{folder}/key"),
    ):
        site, count = re.subn(old, new, site)
        assert count, f"{old} is no longer in deploy/nginx.conf"
    temporary = "".join(
        f"{kind}_temp_path {folder}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    path = folder / "nginx.conf"
    path.write_text(
        f"daemon off;\nmaster_process off;\npid {folder}/nginx.pid;\nerror_log {folder}/error.log;\n"
        f"events {{}}\nhttp {{\naccess_log off;\n{temporary}{site}}}\n"
    )
    return path


@pytest.fixture
def behind_nginx(start, tmp_path: Path) -> Iterator[tuple[str, int, int]]:
    """A server behind nginx with TLS: the certificate, and the ports for http and https."""
    program = needs("nginx")
    server = start(BUBBLELINE_HOSTS=f"{NAME},localhost,127.0.0.1", BUBBLELINE_PROXIES="1")
    plain, secure = free_ports(2)
    config = nginx_of(tmp_path, server, plain, secure)
    process = subprocess.Popen([program, "-c", config, "-e", tmp_path / "error.log"], stderr=subprocess.DEVNULL)

    def listens() -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", secure)) == 0

    try:
        until(listens)
        yield str(tmp_path / "chain.pem"), plain, secure
    finally:
        process.terminate()
        process.wait(timeout=PATIENCE_S)


def test_a_page_its_changes_and_its_socket_work_behind_nginx_with_tls(behind_nginx):
    certificate, plain, secure = behind_nginx
    root = f"https://localhost:{secure}"
    with requests.Session() as session:
        session.verify, session.trust_env = certificate, False  # the environment may name other certificates
        assert "<title>" in session.get(root + "/", timeout=PATIENCE_S).text
        assert session.get(root + "/api/schedule?p=4", timeout=PATIENCE_S).status_code == 200
        assert session.get(root + "/metrics", timeout=PATIENCE_S).status_code == 404, "for operators only"
        link = session.post(root + "/api/links", json={"query": "?p=4"}, headers={"Origin": root}, timeout=PATIENCE_S)
        assert (link.status_code, link.json()["url"][:3]) == (201, "/s/")
        opened = session.get(root + link.json()["url"], timeout=PATIENCE_S, allow_redirects=False)
        assert (opened.status_code, opened.headers["Location"]) == (302, "/?p=4")
        for origin in ("https://elsewhere.example", f"http://localhost:{plain}", "null"):
            foreign = session.post(
                root + "/api/links", json={"query": "?p=8"}, headers={"Origin": origin}, timeout=PATIENCE_S
            )
            assert (foreign.status_code, foreign.json()["error"]["code"]) == (403, "http.other_origin")
        moved = session.get(f"http://localhost:{plain}/?p=4", timeout=PATIENCE_S, allow_redirects=False)
    assert (moved.status_code, moved.headers["Location"]) == (301, "https://localhost/?p=4")
    trusted = {"ca_certs": certificate, "cert_reqs": ssl.CERT_REQUIRED}
    address = f"wss://localhost:{secure}/socket.io/?EIO=4&transport=websocket"
    page = websocket.create_connection(address, origin=root, sslopt=trusted, timeout=PATIENCE_S)
    assert page.recv().startswith("0{")
    page.send("40")
    assert page.recv().startswith("40{")
    page.send('420["unwatch",{"run":"nobody"}]')
    assert page.recv() == '430[{"ok":true}]'
    page.close()
    other = websocket.create_connection(address, origin="https://elsewhere.example", sslopt=trusted, timeout=PATIENCE_S)
    assert not (other.recv() or b"").startswith(b"0"), "it is closed at once"
    other.close()


def test_caddy_accepts_its_example():
    subprocess.run(
        [needs("caddy"), "validate", "--adapter", "caddyfile", "--config", DEPLOY / "Caddyfile"],
        check=True, capture_output=True, timeout=PATIENCE_S,
    )  # fmt: skip


def caddy_directives() -> dict[tuple[str, ...], str]:
    """Return the directives of the example by their names and those of the blocks around them, with their arguments.

    A line is a directive and its arguments, a block follows its directive's line after a brace, # begins a comment
    (caddyserver.com/docs/caddyfile/concepts).
    """
    found: dict[tuple[str, ...], str] = {}
    path: list[str] = []
    for line in (DEPLOY / "Caddyfile").read_text().splitlines():
        words = re.sub(r"(^|\s)#.*", "", line).split()
        if words == ["}"]:
            path.pop()
        elif words:
            opens = words[-1] == "{"
            found[(*path, words[0])] = " ".join(words[1 : len(words) - opens])
            if opens:
                path.append(words[0])
    assert path == [], "a brace is missing"
    return found


def test_the_example_for_caddy_says_what_the_one_for_nginx_says():
    """Whether caddy is installed or not; caddy sets the forwarded headers and passes on sockets by itself."""
    nginx, site = (DEPLOY / "nginx.conf").read_text(), f"{{$SITE:{NAME}}}"
    upstream = re.findall(r"server (127\S+);", nginx)[0]
    largest = re.findall(r"client_max_body_size (\d+)m", nginx)[0]
    kept = re.findall(r"keepalive_timeout (\d+s)", nginx)[0]
    private = re.findall(r"location = (\S+) +{ return 404", nginx)
    proxy = (site, "reverse_proxy")
    assert caddy_directives() == {
        (site,): "",
        (site, "encode"): "zstd gzip",
        (site, "@private"): f"path {' '.join(private)}",
        (site, "respond"): "@private 404",
        (site, "request_body"): "",
        (site, "request_body", "max_size"): f"{largest}MB",
        proxy: f"{{$UPSTREAM:{upstream}}}",
        (*proxy, "transport"): "http",
        (*proxy, "transport", "keepalive"): kept,
        (*proxy, "transport", "dial_timeout"): "5s",
    }


def test_systemd_accepts_the_unit(tmp_path: Path):
    unit = tmp_path / "bubbleline.service"
    unit.write_text(re.sub(r"ExecStart=\S+", "ExecStart=/bin/true", (DEPLOY / "bubbleline.service").read_text()))
    done = subprocess.run(
        [needs("systemd-analyze"), "verify", unit], capture_output=True, text=True, check=False, timeout=PATIENCE_S
    )
    ours = [line for line in done.stderr.splitlines() if "bubbleline.service" in line and "man " not in line]
    assert ours == [], "an unknown or illegal setting"


def test_the_examples_name_no_setting_that_the_server_does_not_have():
    from dataclasses import fields

    from backend.config import Config, variable

    known = {variable(field.name) for field in fields(Config)} | {"BUBBLELINE_PROXIES"}
    for path in DEPLOY.iterdir():
        unknown = set(re.findall(r"BUBBLELINE_[A-Z_]*[A-Z]", path.read_text())) - known
        assert not unknown, path.name
