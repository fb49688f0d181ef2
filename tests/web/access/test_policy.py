"""Tokens, cookies, roles and the audit log, without a server."""

from __future__ import annotations

import json
import logging
import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from backend.access import audit as audit_log
from backend.access import keys
from backend.access.audit import Audit, AuditFile
from backend.access.keys import Cookie
from backend.access.limits.rate_limit import Pace
from backend.access.policy import AccessError, Policy, refuse_other_owner
from backend.access.roles import Identity, Role, by_address
from backend.config import Config, ConfigError

ANY = Identity(Role.VIEW, "address:10.0.0.1", "browser:x", "10.0.0.1")


@pytest.fixture
def policy(tmp_path: Path) -> Policy:
    return Policy(Config(host="0.0.0.0", database=tmp_path / "runs.sqlite3"))


def test_secrets_are_private_and_outlive_a_restart(tmp_path: Path):
    first = keys.load(tmp_path)
    path = tmp_path / keys.FILE
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len({first.secret, first.token, first.admin_token}) == 3
    path.chmod(0o644)
    assert keys.load(tmp_path) == first
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [each.name for each in tmp_path.iterdir()] == [keys.FILE]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"secret": "short", "token": "short", "admin_token": "short"}'])
def test_a_damaged_file_of_secrets_is_replaced(tmp_path: Path, text: str):
    (tmp_path / keys.FILE).write_text(text)
    made = keys.load(tmp_path)
    assert len(made.secret) >= 32
    assert keys.load(tmp_path) == made


def test_where_nothing_can_be_written_the_secrets_last_until_the_end(tmp_path: Path, caplog):
    (tmp_path / "file").write_text("")
    assert keys.load(tmp_path / "file").token
    assert "cannot be written" in caplog.text


def test_a_role_needs_the_exact_token(policy: Policy):
    own = policy.keys
    assert own.role_of_token(own.token) == Role.RUN
    assert own.role_of_token(own.admin_token) == Role.ADMIN
    for wrong in ("", own.token[:-1], own.token + "x", own.token.upper(), own.secret, "é", "\0"):
        assert own.role_of_token(wrong) == Role.NOBODY
    assert policy.identify("10.0.0.1", token=own.token).role == Role.RUN
    with pytest.raises(AccessError) as refused:
        policy.require(policy.identify("10.0.0.1", token="guess"), Role.VIEW)
    assert (refused.value.kind, refused.value.code) == ("unidentified", "access.bad_token")


def test_a_cookie_that_this_server_has_not_signed_counts_as_none(policy: Policy, tmp_path: Path):
    genuine = policy.keys.sign(Cookie("me", policy.keys.grant_of(policy.keys.admin_token)))
    assert policy.identify("10.0.0.1", genuine).role == Role.ADMIN
    other = keys.load(tmp_path / "elsewhere")
    forged = other.sign(Cookie("me", policy.keys.grant_of(policy.keys.admin_token)))
    for text in (forged, genuine[:-1], genuine + "x", genuine.replace(".", ""), "x" * 10_000, "e30", "é"):
        assert (policy.identify("10.0.0.1", text).role, policy.keys.read(text)) == (Role.VIEW, None)


def test_a_new_token_ends_what_the_old_one_gave_but_not_whose_the_runs_are(policy: Policy):
    cookie = policy.keys.sign(Cookie("me", policy.keys.grant_of(policy.keys.token)))
    before = policy.identify("10.0.0.1", cookie)
    changed = Policy(replace(policy.config, token="another-token-of-the-class"))
    after = changed.identify("10.0.0.1", cookie)
    assert (before.role, after.role) == (Role.RUN, Role.VIEW)
    assert before.owner == after.owner
    assert changed.keys.made == {Role.ADMIN}


def test_dropping_the_cookie_does_not_give_a_new_share_but_a_token_gives_one_to_each_browser(policy: Policy):
    anonymous = {policy.identify("10.0.0.1").client for _ in range(3)}
    plain = {policy.identify("10.0.0.1", policy.keys.sign(Cookie(each))).client for each in "abc"}
    grant = policy.keys.grant_of(policy.keys.token)
    shown = {policy.identify("10.0.0.1", policy.keys.sign(Cookie(each, grant))).client for each in "abc"}
    assert anonymous == plain == {"address:10.0.0.1"}
    assert len(shown) == 3


def test_addresses_of_one_customer_count_as_one_client():
    assert by_address("2001:db8:1:2:3::4") == by_address("2001:db8:1:2:ffff::1") != by_address("2001:db8:1:3::1")
    assert by_address("::ffff:10.0.0.1") == by_address("10.0.0.1") == "address:10.0.0.1"
    assert by_address("fe80::1%eth0") == "address:fe80::/64"
    assert by_address("10.0.0.1:4711") == "address:10.0.0.1", "some proxies state the port too"
    assert by_address("[fe80::1]:4711") == "address:fe80::/64"
    assert by_address("") == "address:"


def test_on_a_local_server_everybody_administrates_and_tokens_mean_nothing(tmp_path: Path):
    policy = Policy(Config(database=tmp_path / "runs.sqlite3"))
    found = policy.identify("127.0.0.1", token="guess")
    policy.require(found, Role.ADMIN)
    assert not policy.is_token(policy.keys.token)


def test_where_viewing_is_closed_a_client_without_a_token_may_nothing(policy: Policy):
    closed = Policy(replace(policy.config, view_open=False))
    with pytest.raises(AccessError) as refused:
        closed.require(closed.identify("10.0.0.1"), Role.VIEW)
    assert refused.value.code == "access.view_needs_token"


def test_a_proxy_names_users_and_some_of_them_administrate(policy: Policy):
    named = Policy(replace(policy.config, proxies=1, user_header="X-Forwarded-User", admins=("ann",)))
    ann, bob = named.identify("10.0.0.1", user="ann"), named.identify("10.0.0.1", user="bob")
    assert (ann.role, bob.role) == (Role.ADMIN, Role.RUN)
    assert (ann.client, bob.owner) == ("user:ann", "user:bob")
    assert named.identify("10.0.0.1", user="10.0.0.1").client != named.identify("10.0.0.1").client


def test_only_owners_and_administrators_may_change_a_run():
    mine = replace(ANY, role=Role.RUN, owner="browser:me")
    refuse_other_owner(mine, "browser:me")
    refuse_other_owner(replace(ANY, role=Role.ADMIN), "")
    for who, owner in ((mine, "browser:you"), (mine, ""), (replace(mine, owner=""), ""), (ANY, ANY.owner)):
        with pytest.raises(AccessError):
            refuse_other_owner(who, owner)


def test_settings_that_would_open_the_server_by_mistake_are_refused():
    with pytest.raises(ConfigError, match="BUBBLELINE_USER_HEADER needs BUBBLELINE_PROXIES"):
        Config.from_env({"BUBBLELINE_USER_HEADER": "X-Forwarded-User"})
    with pytest.raises(ConfigError, match="BUBBLELINE_TOKEN must have at least 16") as refused:
        Config.from_env({"BUBBLELINE_TOKEN": "a short one"})
    assert "a short one" not in str(refused.value)
    with pytest.raises(ConfigError, match="must differ"):
        Config.from_env({"BUBBLELINE_TOKEN": "x" * 20, "BUBBLELINE_ADMIN_TOKEN": "x" * 20})
    with pytest.raises(ConfigError, match="BUBBLELINE_VIEW_OPEN must be 0 or 1"):
        Config.from_env({"BUBBLELINE_VIEW_OPEN": "no"})
    assert "x" * 20 not in repr(Config(token="x" * 20))


def test_a_pace_gives_a_burst_then_the_rate_and_holds_few_numbers(monkeypatch):
    now = [0.0]
    pace = Pace(60, 60.0, lambda: now[0])
    assert [pace.take("a") for _ in range(61)] == [None] * 60 + [1]
    assert pace.take("b") is None
    now[0] = 2.0
    assert [pace.take("a") for _ in range(3)] == [None, None, 1]
    assert Pace(1, 3600.0, lambda: now[0]).take("a") is None
    monkeypatch.setattr("backend.access.limits.rate_limit.MOST_CLIENTS", 10)
    for number in range(1000):
        pace.take(f"client {number}")
    assert len(pace._clients) == 10


def test_the_audit_log_has_who_what_and_when_and_is_bounded_and_private(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(audit_log, "FILE_BYTES", 2000)
    logger = logging.Logger("audit", logging.INFO)
    monkeypatch.setattr(audit_log, "logger", logger)
    path = tmp_path / "logs" / audit_log.FILE
    audit_log.log_to(path)
    audit = Audit()
    audit.record(ANY, "rename", "abc", name="\n" + "x" * 1000)
    (line,) = path.read_text().splitlines()
    entry = json.loads(line)
    assert {key: entry[key] for key in ("who", "address", "what", "run")} == {
        "who": "browser:x", "address": "10.0.0.1", "what": "rename", "run": "abc",
    }  # fmt: skip
    assert entry["at"].startswith("20")
    assert len(entry["name"]) == audit_log.LONGEST
    for _ in range(100):
        audit.record(ANY, "run", "abc")
    written = list(path.parent.iterdir())
    assert len(written) == 1 + audit_log.OLD_FILES
    assert sum(each.stat().st_size for each in written) <= 2000 * (1 + audit_log.OLD_FILES)
    assert {stat.S_IMODE(each.stat().st_mode) for each in written} == {0o600}


def test_refusals_of_one_client_do_not_push_out_the_rest_of_the_log(caplog):
    audit = Audit()
    with caplog.at_level(logging.INFO, "bubbleline.audit"):
        for _ in range(1000):
            audit.refuse(ANY, "access.run_needs_token", "POST /api/runs")
        audit.refuse(replace(ANY, client="address:10.0.0.2"), "access.run_needs_token", "POST /api/runs")
    assert len(caplog.records) == audit_log.REFUSALS_A_MINUTE + 1


def test_an_audit_log_that_cannot_be_written_says_so_once_and_stops_nothing(tmp_path: Path, capsys):
    (tmp_path / "file").write_text("")
    handler = AuditFile(tmp_path / "file" / "audit.log", maxBytes=1000, backupCount=1, delay=True)
    record = logging.makeLogRecord({"msg": "x"})
    for _ in range(5):
        handler.emit(record)
    assert capsys.readouterr().err.count("cannot be written") == 1
    assert os.listdir(tmp_path) == ["file"]
