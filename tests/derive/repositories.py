"""Small git repositories with code whose structure is known."""

# ruff: noqa: E501 - a file of code is one line here.

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

ENVIRONMENT = {
    "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b",
    "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b", "GIT_AUTHOR_DATE": "2020-01-01T00:00:00+00:00",
    "GIT_COMMITTER_DATE": "2020-01-01T00:00:00+00:00",
}  # fmt: skip

# `parse_amount` is used by one function a file, and each of these by another one: no listing of everything comes near.
CHAIN = {
    "shop/amounts.py": "def parse_amount(text):\n    return float(text)\n\n\ndef other_thing():\n    return 1\n",
    "shop/basket.py": "from shop.amounts import parse_amount\n\n\ndef read_basket(text):\n    return parse_amount(text)\n",
    "shop/orders.py": (
        "from shop.basket import read_basket\n\n\nclass Orders:\n    def place_order(self, text):\n"
        "        return read_basket(text)\n\n    def again(self):\n        return self.place_order('')\n"
    ),
    "shop/cli.py": "from shop.basket import read_basket\n\n\ndef run_shop():\n    return [read_basket(one) for one in ()]\n",
    "shop/views.py": "from shop import amounts\n\n\ndef show_total(text):\n    # parse_amount\n    return amounts.parse_amount\n",
}
PADDING = {
    f"shop/rest_{number}.py": "".join(f"def unrelated_{number}_{part}():\n    return {part}\n\n\n" for part in range(9))
    for number in range(12)
}


def git(folder: Path, *arguments: str) -> str:
    """Run git in a folder."""
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments], env=os.environ | ENVIRONMENT, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def commit(folder: Path, files: Mapping[str, str | bytes], message: str = "Begin") -> str:
    """Write files, commit them, and return the commit."""
    if not (folder / ".git").exists():
        folder.mkdir(parents=True, exist_ok=True)
        git(folder, "init", "-q", "-b", "main")
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    git(folder, "add", "-A", "-f")
    git(folder, "commit", "-q", "--allow-empty", "-m", message)
    return git(folder, "rev-parse", "HEAD")
