"""Draw a comparison page, docs/comparison.png, from made-up results, and say so in the picture.

The page is the one that `compare --html` writes; only the banner at its top is added. The numbers are drawn at
random and say nothing about any agent. Run by `make picture`; needs Chromium and the dev extra.
"""

from __future__ import annotations

import argparse
import random
import shutil
import tempfile
from pathlib import Path

from harness.models import CriterionScore, EvalResult, GradeResult
from measure.compare.comparison import compare_arms
from measure.report.html import render
from tests.support.results import run

LANGUAGES = ("c", "csharp", "go", "java", "javascript", "python", "rust", "typescript")
CATEGORIES = ("architectural_understanding", "bug_investigation", "cross_file_refactoring", "security_analysis")
DIFFICULTIES = ("easy", "medium", "hard", "expert")
EFFECTS = dict(zip(CATEGORIES, (0.16, 0.07, 0.10, -0.02), strict=True))
COMPONENTS = {"keyword_overlap": 0.0, "file_references": 0.08, "code_blocks": -0.05, "length_score": 0.2}
LABELS = ("without search", "with search")

BANNER = (
    '<p style="margin:0;padding:8px 20px;background:#fbf0cf;color:#6b4b00;font-weight:600">'
    "An example drawn from made-up data: not a finding about any agent or tool.</p>"
)
WIDTH = 1160


def made_arm(name: str, *, tasks: int, runs: int, searches: bool, seed: int = 1) -> list[EvalResult]:
    """An arm with rewards between 0 and 1, components, tool calls and costs; `searches` moves them."""
    results = []
    for number in range(tasks):
        of_task = random.Random(number)
        category, level = CATEGORIES[number % 4], of_task.uniform(0.25, 0.7)
        effect = EFFECTS[category] + of_task.gauss(0, 0.12)
        language, context_length = of_task.choice(LANGUAGES), of_task.randrange(50_000, 450_000)
        task = f"{language}_service_{DIFFICULTIES[number % 3]}_{number:03}_{category}_{DIFFICULTIES[number % 3]}_01"
        for index in range(runs):
            rng = random.Random(f"{seed} {name} {number} {index}")
            score = min(1.0, max(0.0, rng.gauss(level + effect * searches, 0.1)))
            calls = rng.randint(4, 14)
            names = ["Read", "Grep", *(["mcp__search__query"] * 2 if searches else [])]
            results.append(
                run(
                    task,
                    name,
                    passed=score >= 0.7,
                    score=score,
                    index=index,
                    model="made-model",
                    cost=round(rng.uniform(0.05, 0.15) * (1.25 if searches else 1), 4),
                    seconds=rng.uniform(60, 400),
                    tokens=rng.randint(20_000, 90_000),
                    tools=[rng.choice(names) for _ in range(calls)],
                    category=category,
                    language=language,
                    difficulty=DIFFICULTIES[number % 3],
                    groups={"context_length": str(context_length)},
                    grades=[_grade(score)],
                    trace={"num_turns": calls + 1},
                )
            )
    return results


def _grade(score: float) -> GradeResult:
    components = {name: min(1.0, max(0.0, score + shift)) for name, shift in COMPONENTS.items()}
    return GradeResult(
        assertion_id="reward",
        assertion_type="code",
        passed=score >= 0.7,
        score=score,
        criteria_scores=[CriterionScore(criterion=name, score=value) for name, value in components.items()],
    )


def page(tasks: int = 50, runs: int = 3) -> str:
    """A comparison page of made results, which says so at its top."""
    arms = [(name, made_arm(name, tasks=tasks, runs=runs, searches=name == "with search")) for name in LABELS]
    html = render(arms, compare_arms(arms, treatment=["mcp__search__*"]), "Made-up data: with and without search")
    return html.replace("<body>", f"<body>{BANNER}", 1)


def main() -> None:
    """Draw the picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("docs/comparison.png"))
    output = parser.parse_args().output
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = Path(folder) / "page.html"
        file.write_text(page(), encoding="utf-8")
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        tab = browser.new_page(viewport={"width": WIDTH, "height": 800}, color_scheme="light")
        tab.goto(file.as_uri())
        height = tab.evaluate("document.querySelector('section section').getBoundingClientRect().top")
        tab.set_viewport_size({"width": WIDTH, "height": round(height)})
        tab.screenshot(path=output)
        browser.close()
    print(f"{output}: {output.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
