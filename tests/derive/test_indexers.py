"""`--scip auto`: the indexers run apart from the user and the repository, and the strict rule stays without them.

The stand-in programs copy an index that scip-python 0.6.6 wrote of `AMBIGUOUS` (shop.scip).
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Any

import pytest

from locobench.derive.resolve import indexers
from locobench.derive.resolve.scip import _index_message
from tests.conftest import Script
from tests.derive.repositories import CHAIN, PADDING, commit
from tests.derive.test_derive_scenarios import scenarios

RECORDED = Path(__file__).with_name("shop.scip")
# A second function of that name: by the strict rule nobody's users are certain.
AMBIGUOUS = CHAIN | {"shop/legacy.py": "def parse_amount(text):\n    return int(text)\n"}
USERS = [
    "shop/basket.py: read_basket", "shop/cli.py: run_shop", "shop/orders.py: Orders.again",
    "shop/orders.py: Orders.place_order", "shop/views.py: show_total",
]  # fmt: skip


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    commit(tmp_path / "shop", AMBIGUOUS | PADDING)
    return tmp_path / "shop"


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Put a shell script in place of scip-python; "$index" is the file that it has to write, "$copy" the code."""

    def install(body: str, folder: Path = tmp_path / "programs") -> None:
        folder.mkdir(exist_ok=True)
        program = folder / "scip-python"
        program.write_text(f'#!/bin/sh\ncopy="$3" index="$5"\n{body}\n')
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}/usr/bin{os.pathsep}/bin")

    return install


def derived(script: Script, shop: Path, *more: object) -> tuple[str, list[dict[str, Any]]]:
    """Return what the command printed, and the questions."""
    output = shop.parent / "data"
    done = script("derive_scenarios.py", shop, "--output_dir", output, "--history", 0, *more)
    return done.stdout + done.stderr, scenarios(output) if output.exists() else []


def copying(index: Path) -> str:
    return f'/bin/cp {shlex.quote(str(index))} "$index"'


def test_with_an_index_names_need_not_be_unique(shop: Path, installed: Any, script: Script) -> None:
    installed(copying(RECORDED))
    said, asked = derived(script, shop, "--scip", "auto")
    assert "shop: python: scip-python ran" in said
    (one,) = [one for one in asked if one["derived"]["kind"] == "all_users" and "amounts.py" in one["task_prompt"]]
    assert one["ground_truth"]["items"] == USERS
    assert (one["derived"]["tier"], one["derived"]["checked"]) == ("scip", False)


def test_without_the_indexer_the_strict_rule_stays(shop: Path, script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    said, asked = derived(script, shop, "--scip", "auto")
    assert "python: scip-python is not installed (`npm install -g @sourcegraph/scip-python`); 18 files" in said
    assert asked == derived(script, shop)[1]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("/bin/sleep 60", "scip-python failed: not done within 2 s"),
        ('(trap "" TERM HUP; /bin/sleep 60) & wait', "scip-python failed: not done within 2 s"),
        ("echo 'Error: ENOSPC: no space left on device' >&2; exit 1", "failed: exit code 1, Error: ENOSPC: no space"),
        (":", "scip-python failed: it wrote no index"),
        (f'/usr/bin/head -c 3000 {shlex.quote(str(RECORDED))} > "$index"', "its index cannot be used: not a SCIP"),
    ],
)  # fmt: skip
def test_an_indexer_that_fails_says_why_and_the_strict_rule_stays(
    body: str, reason: str, shop: Path, installed: Any, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexers, "LONGEST", 2 if "sleep" in body else 600)
    installed(body)
    said, asked = derived(script, shop, "--scip", "auto")
    assert reason in said
    assert asked == derived(script, shop)[1]


def test_what_is_used_in_a_file_that_the_index_lacks_is_not_asked_for(
    shop: Path, tmp_path: Path, installed: Any, script: Script
) -> None:
    message = _index_message().FromString(RECORDED.read_bytes())
    kept = [one for one in message.documents if one.relative_path != "shop/views.py"]
    del message.documents[:]
    message.documents.extend(kept)
    (tmp_path / "part.scip").write_bytes(message.SerializeToString())
    installed(copying(tmp_path / "part.scip"))
    said, asked = derived(script, shop, "--scip", "auto")
    assert "scip-python ran" in said
    assert not [one for one in asked if "`parse_amount`" in one["title"]]


def test_a_program_of_the_repository_is_never_run(shop: Path, installed: Any, script: Script) -> None:
    was_run = shop.parent / "was-run"
    installed(f"/bin/touch {shlex.quote(str(was_run))}", folder=shop)
    commit(shop, {})
    said, _ = derived(script, shop, "--scip", "auto")
    assert "scip-python is not installed" in said
    assert not was_run.exists()


def test_an_indexer_sees_no_keys_no_other_programs_and_no_network(
    shop: Path, installed: Any, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(shop, {".cargo/config.toml": "", "rust-toolchain.toml": "", "link.py": ""})
    monkeypatch.setenv("SOME_API_KEY", "secret")
    seen = '$(cd "$copy"; echo .cargo* rust-toolchain* pyproject.toml) $(/usr/bin/env | /bin/grep -c KEY)'
    installed(f'echo "error: {seen} $(ls) $(/bin/grep -c : /proc/net/dev)"; exit 1')
    said, _ = derived(script, shop, "--scip", "auto")
    interfaces = "1" if indexers._isolation() else ""
    assert f"error: .cargo* rust-toolchain* pyproject.toml 0  {interfaces}" in said
