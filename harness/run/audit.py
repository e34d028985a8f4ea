"""How true are the tasks' reference answers? Builds the questions for the judges and the lines of the audit."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import partial
from statistics import median

from harness.graders.audit_prompt import VERSION, audit_question
from harness.graders.service import Question
from harness.results.judged_task import JudgedTask
from harness.run.panel import Panel


def audit_questions(tasks: Iterable[JudgedTask]) -> list[Question]:
    """Return one question per task; tasks without a reference are skipped."""
    return [
        audit_question(task.id, task.instruction, task.reference, partial(task.pack, task.reference))
        for task in tasks
        if task.reference.strip()
    ]


def audit_lines(questions: Iterable[Question], panel: Panel) -> str:
    """Return the audits as JSONL: id, truth (0-100, the judges' median), checks, reason, judge, truths, version.

    Checks and reason come from the verdict nearest to the median. A task without a verdict gets no line.
    """
    lines = []
    for question in questions:
        verdicts = [reply.verdict for reply in panel.replies(question) if reply.verdict is not None]
        if not verdicts:
            continue
        truths = [verdict["truth"] for verdict in verdicts]
        truth = median(truths)
        chosen = min(verdicts, key=lambda verdict: abs(verdict["truth"] - truth))
        line = {
            "id": question.task,
            "truth": truth,
            "checks": chosen["checks"],
            "reason": chosen["reason"],
            "judge": ", ".join(panel.judges),
            "truths": truths,
            "version": VERSION,
        }
        lines.append(json.dumps(line, ensure_ascii=False) + "\n")
    return "".join(lines)
