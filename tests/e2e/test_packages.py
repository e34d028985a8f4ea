"""The base image's package index knows every package that languages.toml names."""

from __future__ import annotations

import re
import subprocess

import pytest

from locobench.dataset.catalog import load_languages

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def known(provided: dict[str, str]) -> set[str]:
    """Those packages of all languages, fallbacks too, that apt could install in a container of the base image."""
    tables = load_languages().values()
    names = {name for table in tables for key in ("packages", "fallback") for name in table.get(key, [])}
    policy = 'apt-get -qq update && apt-cache policy "$@"'
    command = ["docker", "run", "--rm", provided["BASE_IMAGE"], "sh", "-euc", policy, "policy", *names]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = re.findall(r"^(\S+):\n.*\n  Candidate: (.+)$", done.stdout, re.MULTILINE)
    return {name for name, candidate in found if candidate != "(none)"}


def test_the_index_knows_every_package_or_its_fallback(known: set[str]) -> None:
    missing = {
        language: sorted(lacking)
        for language, table in load_languages().items()
        if (lacking := set(table["packages"]) - known)
        and not ("fallback" in table and known.issuperset(table["fallback"]))
    }

    assert missing == {}
