"""Snapshots of a Claude Code configuration: what they hold, what never gets in, what they may write."""

from __future__ import annotations

import base64
import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.config_exporter import ConfigExporter
from harness.config_importer import ConfigImporter
from harness.models import ClaudeConfigSnapshot
from locobench.shared.errors import InputError
from measure.secrets.names import is_secret_name
from measure.secrets.redaction import REDACTED, redact_settings
from tests.support.suite import harness

WORD = "abcdefghijklmnopqrstuvwxyz"
HEX = "0123456789abcdef"
ALNUM = WORD + WORD.upper() + "0123456789"


def chars(alphabet: str, length: int) -> st.SearchStrategy[str]:
    return st.text(alphabet, min_size=length, max_size=length)


def shape(prefix: str, alphabet: str, length: int) -> st.SearchStrategy[str]:
    return chars(alphabet, length).map(prefix.__add__)


SHAPED = {
    "anthropic": shape("sk-ant-api03-", ALNUM, 40),
    "openai": shape("sk-proj-", ALNUM, 40),
    "stripe": shape("sk_" + "live_", ALNUM, 24),
    "webhook signing": shape("whsec_", ALNUM, 32),
    "github": shape("ghp_", ALNUM, 36),
    "github app": shape("ghs_", ALNUM, 36),
    "github fine-grained": shape("github_pat_", ALNUM, 60),
    "gitlab": shape("glpat-", ALNUM, 20),
    "aws id": shape("AKIA", WORD.upper() + "234567", 16),
    "google": shape("AIza", ALNUM, 35),
    "google oauth": shape("ya29.", ALNUM, 60),
    "slack bot": shape("xoxb-", "0123456789", 24),
    "slack app": shape("xapp-", ALNUM, 30),
    "npm": shape("npm_", ALNUM, 36),
    "pypi": shape("pypi-", ALNUM, 60),
    "hugging face": shape("hf_", ALNUM, 34),
    "groq": shape("gsk_", ALNUM, 40),
    "xai": shape("xai-", ALNUM, 40),
    "sendgrid": st.tuples(chars(ALNUM, 22), chars(ALNUM, 43)).map(lambda p: f"SG.{p[0]}.{p[1]}"),
    "digitalocean": shape("dop_v1_", HEX, 64),
    "linear": shape("lin_api_", ALNUM, 40),
    "notion": shape("ntn_", ALNUM, 40),
    "databricks": shape("dapi", HEX, 32),
    "grafana": shape("glsa_", ALNUM, 32),
    "vault": shape("hvs.", ALNUM, 30),
    "docker": shape("dckr_pat_", ALNUM, 27),
    "shopify": shape("shpat_", HEX, 32),
    "json web token": st.tuples(chars(ALNUM, 20), chars(ALNUM, 40), chars(ALNUM, 40)).map(
        lambda p: f"eyJ{p[0]}.{p[1]}.{p[2]}"
    ),
    "private key": chars(ALNUM, 64).map(
        lambda text: f"-----BEGIN RSA PRIVATE KEY-----\n{text}\n-----END RSA PRIVATE KEY-----"
    ),
}
"""Secrets that give themselves away wherever they stand."""

NAMED = ("password", "DB_PASSWORD", "apiKey", "x-api-key", "SECRET_VALUE", "auth_token", "clientSecret",
         "sessionCookie", "MY_PAT", "sentryDsn", "encryption_key", "passphrase", "credentials")  # fmt: skip
"""Names whose values are secret however they look."""


def configuration(home: Path, **files: Any) -> Path:
    for name, content in files.items():
        path = home / name.replace("__", "/").replace("DOT", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return home / ".claude"


def exported(tmp_path: Path, **files: Any) -> ClaudeConfigSnapshot:
    home = configuration(tmp_path / "home", DOTclaude__keepDOTtxt="", **files)
    return ConfigExporter(home).export_snapshot()


def places(secret: str, name: str) -> dict[str, Any]:
    """A configuration with the secret wherever one may stand."""
    server = {"command": "npx", "args": ["-y", "server", "--token", secret], "env": {name: secret}}
    remote = {"url": f"https://user:{secret}@host/mcp?{name}={secret}", "headers": {"X-Custom": secret}}
    return {
        "DOTclaude__settingsDOTjson": {
            "model": "opus",
            "env": {name: secret},
            "deep": [{"list": [{name: secret}]}],
            "apiKeyHelper": f"echo {secret}",
        },
        "DOTclaudeDOTjson": {"mcpServers": {"local": server, "remote": remote}},
        "DOTclaude__CLAUDEDOTmd": f"Use {name}={secret} here.\n{name}: {secret}\nexport {name}='{secret}'\n",
        "DOTclaude__skills__s__run.sh": f'export {name}="{secret}"\n{name}={secret}\n',
        "DOTclaude__skills__s__SKILLDOTmd": "# s",
        "DOTclaude__hooks__h.json": json.dumps({name: secret}),
    }


SLOW = settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize("kind", SHAPED)
@SLOW
@given(data=st.data())
def test_a_secret_of_known_shape_never_gets_into_a_snapshot(
    tmp_path_factory: pytest.TempPathFactory, kind: str, data: st.DataObject
) -> None:
    secret = data.draw(SHAPED[kind])
    snapshot = exported(tmp_path_factory.mktemp("s"), **places(secret, "HARMLESS_NAME"))
    text = snapshot.model_dump_json()
    core = secret.split("\n")[1] if "\n" in secret else secret
    assert core not in text
    assert snapshot.redacted


@pytest.mark.parametrize("name", NAMED)
@SLOW
@given(secret=st.text(ALNUM, min_size=9, max_size=20).map(lambda text: f"{text}7"))
def test_a_value_under_a_secret_name_never_gets_into_a_snapshot(
    tmp_path_factory: pytest.TempPathFactory, name: str, secret: str
) -> None:
    files = places(secret, name)
    files["DOTclaude__settingsDOTjson"].pop("apiKeyHelper")
    files["DOTclaudeDOTjson"]["mcpServers"]["remote"]["url"] = f"https://host/mcp?{name}={secret}"
    assert secret not in exported(tmp_path_factory.mktemp("s"), **files).model_dump_json()


def test_what_is_no_secret_stays(tmp_path: Path) -> None:
    kept = {
        "model": "claude-sonnet-5-5",
        "env": {"MAX_THINKING_TOKENS": "31999", "EDITOR": "vim", "API_KEY": "${MY_KEY}"},
        "permissions": {"allow": ["Bash(git:*)", "Read"]},
        "cleanupPeriodDays": 30,
        "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "~/.claude/hooks/stop.sh"}]}]},
    }
    snapshot = exported(tmp_path, DOTclaude__settingsDOTjson=kept)
    assert snapshot.settings == kept
    assert snapshot.redacted == []


def test_secret_settings_are_left_out_and_named(tmp_path: Path) -> None:
    snapshot = exported(tmp_path, DOTclaude__settingsDOTjson={"env": {"API_KEY": "abc", "A": "1"}})
    assert snapshot.settings == {"env": {"A": "1"}}
    assert snapshot.redacted == ["settings.env.API_KEY"]


def test_headers_are_kept_only_where_they_are_known_to_be_harmless(tmp_path: Path) -> None:
    server = {"url": "https://host", "headers": {"X-Anything": "value", "Accept": "text/plain"}}
    snapshot = exported(tmp_path, DOTclaudeDOTjson={"mcpServers": {"s": server}})
    assert snapshot.mcp_servers["s"]["headers"] == {"X-Anything": REDACTED, "Accept": "text/plain"}


def test_servers_come_from_the_state_file_and_the_project(tmp_path: Path) -> None:
    claude = configuration(
        tmp_path / "home",
        DOTclaude__xDOTtxt="",
        DOTclaudeDOTjson={
            "mcpServers": {"user": {"command": "u"}, "both": {"command": "u"}},
            "numStartups": 9,
        },
    )
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / ".mcp.json").write_text('{"mcpServers": {"both": {"command": "p"}}}')
    snapshot = ConfigExporter(claude, project=tmp_path / "p").export_snapshot()
    assert snapshot.mcp_servers == {"user": {"command": "u"}, "both": {"command": "p"}}


def test_skills_are_taken_whole_with_scripts_binaries_and_modes(tmp_path: Path) -> None:
    claude = configuration(
        tmp_path / "home",
        DOTclaude__skills__pdf__SKILLDOTmd="# pdf",
        DOTclaude__skills__pdf__scripts__runDOTpy="print(1)\r\n",
        DOTclaude__skills__pdf__logoDOTpng=b"\x89PNG\x00\xff",
        DOTclaude__agents__aDOTmd="agent",
        DOTclaude__commands__cDOTmd="command",
        DOTclaude__hooks__toolDOTbin=b"\x00\x01",
    )
    (claude / "skills/pdf/scripts/run.py").chmod(0o755)
    snapshot = ConfigExporter(claude).export_snapshot()
    assert snapshot.skills == {"pdf/SKILL.md": "# pdf", "pdf/scripts/run.py": "print(1)\r\n"}
    assert snapshot.binary["skills/pdf/logo.png"] == b"\x89PNG\x00\xff"
    assert snapshot.files == {"agents/a.md": "agent", "commands/c.md": "command"}
    assert snapshot.binary["hooks/tool.bin"] == b"\x00\x01"
    assert snapshot.executable == ["skills/pdf/scripts/run.py"]


def test_servers_that_are_local_to_a_project_win(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`claude mcp add` writes them into .claude.json below the root of the repository, else the folder."""
    root, other = tmp_path / "repository", tmp_path / "other"
    (root / ".git").mkdir(parents=True)
    (root / "package").mkdir()
    other.mkdir()

    def of(source: str, *names: str) -> dict[str, Any]:
        return {"mcpServers": {name: {"command": source} for name in names}}

    (root / "package/.mcp.json").write_text(json.dumps(of("project", "everywhere", "shared", "project")))
    projects = {str(root): of("local", "everywhere", "local"), str(other): of("other", "other")}
    state = {**of("user", "everywhere", "shared", "user"), "projects": projects}
    claude = configuration(tmp_path / "home", DOTclaude__xDOTtxt="", DOTclaudeDOTjson=state)
    servers = ConfigExporter(claude, project=root / "package").export_snapshot().mcp_servers
    expected = {"everywhere": "local", "local": "local", "shared": "project", "project": "project", "user": "user"}
    assert {name: server["command"] for name, server in servers.items()} == expected
    monkeypatch.chdir(other)
    assert set(ConfigExporter(claude).export_snapshot().mcp_servers) == {"everywhere", "shared", "user", "other"}


def test_a_linked_skill_is_taken_without_the_links_in_it(tmp_path: Path) -> None:
    claude = configuration(tmp_path / "home", DOTclaude__agents__xDOTtxt="")
    (tmp_path / "dotfiles").mkdir()
    (claude / "skills").mkdir()
    (tmp_path / "dotfiles" / "SKILL.md").write_text("linked")
    (claude / "skills/linked").symlink_to(tmp_path / "dotfiles")
    (tmp_path / "dotfiles" / "again").symlink_to(tmp_path / "dotfiles")
    snapshot = ConfigExporter(claude).export_snapshot()
    assert snapshot.skills == {"linked/SKILL.md": "linked"}
    assert snapshot.left_out == [f"skills/linked/again -> {tmp_path / 'dotfiles'}"]


@pytest.mark.parametrize("link", ["skills/s/docs", "skills/s/docs/below", "skills/docs", "agents/docs", "hooks/one.sh"])
def test_a_link_that_leads_out_is_named_and_not_followed(tmp_path: Path, link: str) -> None:
    """A skill's link to /etc used to bring all of it, the password file too."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "passwd").write_text("root:x:0:0")
    claude = configuration(
        tmp_path / "home", DOTclaude__skills__s__SKILLDOTmd="# s", DOTclaude__agents__a="a", DOTclaude__hooks__a="a"
    )
    target = outside / "passwd" if link.endswith(".sh") else outside
    (claude / link).parent.mkdir(exist_ok=True)
    (claude / link).symlink_to(target)
    snapshot = ConfigExporter(claude).export_snapshot()
    assert snapshot.left_out == [f"{link} -> {target}"]
    assert "root:x" not in snapshot.model_dump_json()


def test_the_command_names_links_that_it_did_not_follow(tmp_path: Path) -> None:
    claude = configuration(tmp_path / "home", DOTclaude__skills__s__SKILLDOTmd="---\ndescription: s\n---\n")
    (claude / "skills/s/etc").symlink_to("/etc")
    shown = harness(tmp_path, "export-config", "--claude-home", str(claude), "-o", "snapshot.json")
    assert shown.returncode == 0
    assert shown.stderr == "  left out: skills/s/etc -> /etc\n"


@pytest.mark.parametrize("name", ["git:commit.md", "a\nb.md", "ü ß.md"])
def test_a_file_of_any_name_comes_back(tmp_path: Path, name: str) -> None:
    claude = configuration(tmp_path / "home", DOTclaude__commands__aDOTmd="a")
    (claude / "commands" / name).write_text("b")
    ConfigImporter().setup_ci_environment(ConfigExporter(claude).export_snapshot(), tmp_path / "ci")
    assert (tmp_path / "ci/.claude/commands" / name).read_text() == "b"


def test_paths_may_be_strings(tmp_path: Path) -> None:
    whole(tmp_path / "home")
    exporter = ConfigExporter(str(tmp_path / "home/.claude"), project=str(tmp_path))
    exporter.save_snapshot(str(tmp_path / "snapshot.json"))
    snapshot = ConfigImporter().load_snapshot(str(tmp_path / "snapshot.json"))
    env = ConfigImporter().setup_ci_environment(snapshot, str(tmp_path / "ci"))
    assert Path(env["CLAUDE_CONFIG_DIR"], "CLAUDE.md").is_file()


def test_files_that_are_secrets_as_a_whole_stay_behind(tmp_path: Path) -> None:
    skill = {"DOTclaude__skills__s__SKILLDOTmd": "# s"}
    claude = configuration(
        tmp_path / "home", **skill, DOTclaude__skills__s__DOTenv="A=b", DOTclaude__skills__s__id_rsa="x"
    )
    snapshot = ConfigExporter(claude).export_snapshot()
    assert snapshot.skills == {"s/SKILL.md": "# s"}
    assert snapshot.redacted == ["skills/s/.env", "skills/s/id_rsa"]


def test_code_that_only_handles_tokens_is_not_touched() -> None:
    code = 'token = read_token()\nheaders = {"Authorization": build(token)}\nclient(password=password)\n'
    assert redact_settings(code) == code


@pytest.mark.parametrize(
    "name",
    ["ANTHROPIC_API_KEY", "AWS_ACCESS_KEY_ID", "DBPASSWORD", "githubToken", "API_TOKENS", "ANTHROPIC_CUSTOM_HEADERS",
     "SIGNING_KEY_BASE64", "DB_PWD", "X-Auth-Token", "GOOGLE_APPLICATION_CREDENTIALS"],
)  # fmt: skip
def test_names_of_secrets_are_known_however_they_are_written(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize(
    "name", ["author", "monkey", "max_tokens", "keybindings", "token_limit", "compass", "PWD", "SSH_AUTH_SOCK"]
)
def test_names_that_only_look_like_secrets_are_none(name: str) -> None:
    assert not is_secret_name(name)


def whole(home: Path) -> Path:
    return configuration(
        home,
        DOTclaude__CLAUDEDOTmd="# Rules\npassword: hunter2222\n",
        DOTclaude__settingsDOTjson={"model": "opus", "env": {"A": "1", "API_KEY": "abcdefgh"}},
        DOTclaudeDOTjson={"mcpServers": {"s": {"command": "x", "args": ["--token", "abcdefgh"]}}},
        DOTclaude__skills__s__SKILLDOTmd="# s",
        DOTclaude__skills__s__xDOTbin=b"\x00\xff",
        DOTclaude__hooks__stopDOTsh="#!/bin/sh\n",
    )


def test_exported_imported_and_exported_again_is_the_same(tmp_path: Path) -> None:
    first = ConfigExporter(whole(tmp_path / "home")).export_snapshot()
    env = ConfigImporter().setup_ci_environment(first, tmp_path / "ci", disable_mcp=False)
    second = ConfigExporter(Path(env["CLAUDE_CONFIG_DIR"])).export_snapshot()
    off = {**first.settings, "env": {**first.settings.get("env", {}), **OFF}}
    same = {"snapshot_timestamp": first.snapshot_timestamp, "settings": first.settings, "redacted": first.redacted}
    assert second.model_copy(update=same) == first
    assert second.settings == off


def test_a_snapshot_survives_its_file(tmp_path: Path) -> None:
    exporter = ConfigExporter(whole(tmp_path / "home"))
    exporter.save_snapshot(tmp_path / "out" / "snapshot.json")
    loaded = ConfigImporter().load_snapshot(tmp_path / "out" / "snapshot.json")
    assert loaded.settings == exporter.export_snapshot().settings
    assert "hunter2222" not in (tmp_path / "out" / "snapshot.json").read_text()


def snapshot_of(**fields: Any) -> ClaudeConfigSnapshot:
    return ClaudeConfigSnapshot(snapshot_timestamp=datetime(2026, 1, 1, tzinfo=UTC), **fields)


def test_an_import_sets_home_and_turns_telemetry_off(tmp_path: Path) -> None:
    env = ConfigImporter().setup_ci_environment(snapshot_of(), tmp_path)
    assert env["HOME"] == str(tmp_path)
    assert env["CLAUDE_CONFIG_DIR"] == env["CLAUDE_HOME"] == str(tmp_path / ".claude")
    assert env["DISABLE_TELEMETRY"] == env["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"] == "1"


OFF = {
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_AUTOUPDATER": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
}


NO_MCP: dict[str, Any] = {"mcpServers": {}, "enableAllProjectMcpServers": False, "enabledMcpjsonServers": []}


def written_settings(folder: Path) -> dict[str, Any]:
    """Return the settings of an import without MCP, but for the keys that switch MCP off."""
    found: dict[str, Any] = json.loads((folder / ".claude/settings.json").read_text())
    assert {name: found.pop(name) for name in NO_MCP} == NO_MCP
    return found


@pytest.mark.parametrize("settings_", [{}, {"env": {"DISABLE_TELEMETRY": "true"}}, {"env": "odd"}])
def test_the_written_settings_turn_telemetry_off_themselves(tmp_path: Path, settings_: dict[str, Any]) -> None:
    """Whoever starts the CLI without the returned variables has it off, too."""
    ConfigImporter().setup_ci_environment(snapshot_of(settings=settings_), tmp_path)
    assert written_settings(tmp_path) == {"env": OFF}


@pytest.mark.parametrize(
    "name",
    ["CLAUDE_CODE_ENABLE_TELEMETRY", "OTEL_METRICS_EXPORTER", "ANT_OTEL_LOGS_EXPORTER", "DISABLE_TELEMETRY",
     "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "BETA_TRACING_ENDPOINT", "CLAUDE_CODE_ENHANCED_TELEMETRY_BETA"],
)  # fmt: skip
def test_settings_cannot_turn_telemetry_on_again(tmp_path: Path, name: str) -> None:
    """Variables of settings.json win over those of the process: DISABLE_TELEMETRY with an empty value would."""
    settings_ = {"env": {name: "", "KEEP": "1"}}
    ConfigImporter().setup_ci_environment(snapshot_of(settings=settings_), tmp_path)
    assert written_settings(tmp_path) == {"env": {"KEEP": "1", **OFF}}


def test_keys_for_analytics_and_telemetry_go_off_in_the_written_settings(tmp_path: Path) -> None:
    settings_ = {"analytics": True, "telemetry": {"enabled": True}, "enableTelemetry": "yes", "theme": "dark"}
    ConfigImporter().setup_ci_environment(snapshot_of(settings=settings_), tmp_path)
    off = {"analytics": False, "telemetry": False, "enableTelemetry": False}
    assert written_settings(tmp_path) == {**off, "theme": "dark", "env": OFF}


def test_mcp_servers_are_off_unless_asked_for(tmp_path: Path) -> None:
    own = {"enableAllProjectMcpServers": True, "enabledMcpjsonServers": ["p"], "mcpServers": {"p": {"command": "p"}}}
    snapshot = snapshot_of(mcp_servers={"s": {"command": "x"}}, settings=own)
    ConfigImporter().setup_ci_environment(snapshot, tmp_path / "off")
    assert not (tmp_path / "off/.claude/.claude.json").exists()
    assert json.loads((tmp_path / "off/.claude/settings.json").read_text()) == {**NO_MCP, "env": OFF}
    ConfigImporter().setup_ci_environment(snapshot, tmp_path / "on", disable_mcp=False)
    assert json.loads((tmp_path / "on/.claude/.claude.json").read_text())["mcpServers"] == snapshot.mcp_servers
    assert json.loads((tmp_path / "on/.claude/settings.json").read_text()) == {**own, "env": OFF}


def test_modes_and_binaries_are_restored(tmp_path: Path) -> None:
    snapshot = snapshot_of(
        skills={"s/run.sh": "x"},
        binary={"skills/s/b": base64.b64encode(b"\0").decode()},
        executable=["skills/s/run.sh"],
    )
    ConfigImporter().setup_ci_environment(snapshot, tmp_path)
    assert os.access(tmp_path / ".claude/skills/s/run.sh", os.X_OK)
    assert (tmp_path / ".claude/skills/s/b").read_bytes() == b"\0"


HOSTILE = ["../../escape.md", "/etc/escape", "a/../../../escape", "..", "", "a//b", "a/./b", "./x"]


@pytest.mark.parametrize("path", HOSTILE)
@pytest.mark.parametrize("field", ["skills", "files", "binary"])
def test_a_path_that_leads_outside_writes_nothing_at_all(tmp_path: Path, field: str, path: str) -> None:
    snapshot = snapshot_of(**{field: {path: "eHg="}, "global_claude_md": "x"})
    with pytest.raises(InputError, match="not imported"):
        ConfigImporter().setup_ci_environment(snapshot, tmp_path / "deep" / "ci")
    assert list(tmp_path.rglob("*")) == []


@pytest.mark.parametrize("path", ["a/b", "a\0b"])
def test_a_path_that_no_file_can_have_is_refused(tmp_path: Path, path: str) -> None:
    with pytest.raises(InputError, match=r"\.claude: cannot be written"):
        ConfigImporter().setup_ci_environment(snapshot_of(skills={"a": "x", path: "y"}), tmp_path)


def test_an_existing_configuration_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    with pytest.raises(InputError, match="exists already"):
        ConfigImporter().setup_ci_environment(snapshot_of(), tmp_path)


@pytest.mark.parametrize("content", ["{", "[]", '{"schema_version": 99, "snapshot_timestamp": 0}', "\xff",
                                     '{"snapshot_timestamp": 0, "binary": {"skills/s/b": "a"}}'])  # fmt: skip
def test_a_file_that_is_no_snapshot_is_refused_in_one_line(tmp_path: Path, content: str) -> None:
    path = tmp_path / "s.json"
    path.write_text(content, encoding="latin-1")
    with pytest.raises(InputError) as error:
        ConfigImporter().load_snapshot(path)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def test_broken_settings_are_an_error_that_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"settings\.json: not JSON"):
        exported(tmp_path, DOTclaude__settingsDOTjson="{")


def test_a_missing_configuration_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        ConfigExporter(tmp_path / "none").export_snapshot()
