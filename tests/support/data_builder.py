"""Builds small benchmark folders in LoCoBench-Agent's own layout, for tests that need one of a certain shape."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from locobench.dataset import extract as extraction

PROJECT = "python_web_shop_easy_001"
CATEGORY = "bug_investigation"

TRUTH = (
    "The stale price comes from `PriceCache.lookup_price` in `src/price_cache.py`: the expiry is compared with "
    "`monotonic_seconds` while `warm_start` stores wall clock epochs, so a warmed entry never expires. Restarting the "
    "daemon hides it. Store monotonic readings in `warm_start` and drop the entry in `evict_stale`.\n\n"
    "```python\nentry.expires_at = monotonic_seconds() + ttl_seconds\n```\n"
)
FILES = {
    "src/price_cache.py": "class PriceCache:\n    def lookup_price(self): ...\n    def warm_start(self): ...\n",
    "src/basket.py": "from price_cache import PriceCache\n",
    "src/orders.py": "def place(): ...\n",
    "src/shipping.py": "def ship(): ...\n",
    "README.md": "# Shop\n",
    "tests/test_basket.py": "def test_basket(): ...\n",
}


@dataclass(frozen=True)
class Data:
    """A data folder under construction."""

    folder: Path

    def project(
        self, files: Mapping[str, str | bytes] | None = None, *, name: str = PROJECT, root: str = "shop/"
    ) -> Path:
        """Write a project's files below generated/<name>/<root>, and its metadata; return generated/<name>."""
        project = self.folder / "generated" / name
        for path, content in (files or FILES).items():
            target = project / root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content if isinstance(content, bytes) else content.encode())
        (project / "project_metadata.json").write_text(json.dumps({"specification": {"unique_id": name}}))
        return project

    def scenario(self, *, number: int = 1, project: str = PROJECT, root: str = "shop/", **changes: Any) -> str:
        """Write a scenario and return its id; `changes` replace fields, None removes one."""
        category = changes.get("task_category", CATEGORY)
        scenario_id = f"{project}_{category}_easy_{number:02}"
        record: dict[str, Any] = {
            "id": scenario_id,
            "task_category": category,
            "difficulty": "easy",
            "title": "Old prices in the basket",
            "description": "Customers see old prices after a restart.",
            "context_files": [root + path for path in FILES],
            "context_length": 60_000,
            "task_prompt": "Find out why the basket shows old prices and propose a fix.",
            "expected_approach": "Follow the price from the basket to where it is kept.",
            "ground_truth": TRUTH,
            "evaluation_criteria": ["Names the comparison of two clocks"],
            "metadata": {"context_length": 60_000, "files_count": len(FILES)},
        }
        record = {key: value for key, value in {**record, **changes}.items() if value is not None}
        self.raw(f"{scenario_id}.json", json.dumps(record, indent=2))
        return scenario_id

    def raw(self, name: str, content: str | bytes) -> Path:
        """Write a file into output/scenarios/."""
        path = self.folder / "output" / "scenarios" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path


def tree(folder: Path) -> dict[str, bytes]:
    """Return every file below `folder` with its bytes; a link with where it leads."""
    return {
        str(path.relative_to(folder)): b"-> " + str(path.readlink()).encode()
        if path.is_symlink()
        else path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_symlink() or path.is_file()
    }


def extract(data_dir: Path, output: Path) -> extraction.Extraction:
    """Extract a data folder as extract_dataset.py does."""
    return extraction.extract(data_dir, output)
