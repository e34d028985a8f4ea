"""docs/ANSWER_FORMATS.md: right answers to an exact question as models write them, wrong ones, and what each earns."""

from __future__ import annotations

from typing import Any

from locobench.scoring import exact

ITEMS = ["shop/orders.py: Orders.place", "shop/basket.py: read_basket", "web/cart.spec.ts: <top level>"]
PAIRS = [(item.partition(": ")[0], item.partition(": ")[2]) for item in ITEMS]
FILES = [path for path, _ in PAIRS]
KEY: dict[str, Any] = {
    "measure": "f1",
    "project": "web_shop_easy_001",
    "items": ITEMS,
    "names": {
        "shop/orders.py": ["Orders", "Orders.__init__", "Orders.place", "Orders.cancel", "Returns.place"],
        "shop/basket.py": ["read_basket", "write_basket"],
        "web/cart.spec.ts": ["render"],
    },
}
FILES_KEY: dict[str, Any] = {"measure": "f1", "project": KEY["project"], "items": FILES, "names": {}}

# Each of a line: `{path}` and `{name}` stand for an item's.
LINES = (
    "{path}: {name}",
    "- {path}: {name}",
    "3. {path}: {name}",
    "- [x] {path}: {name}",
    "- `{path}`: `{name}`",
    "`{path}: {name}`",
    "**{path}**: {name}",
    '"{path}: {name}",',
    "[{path}]({path}): {name}",
    "{path}:{name}",
    "{path}::{name}",
    "{path}#{name}",
    "{path} -> {name}",
    "{path} → {name}",
    "{path} - {name}",
    "{path} — {name}",
    "{path} > {name}",
    "{path}, {name}",
    "{path}\t{name}",
    "{path} {name}",
    "{path} ({name})",
    "{path}:12: {name}",
    "{path}:12:5: {name}",
    "{path}#L12-L20: {name}",
    "{path} (line 12): {name}",
    "{path}: {name}:12",
    "{path}: {name} (lines 12-20)",
    "{path}: {name}  # calls it",
    "{path}: {name} // step 1",
    "{path}: {name} — calls it",
    "{path}: {name} - calls it, like the others",
    "{path}: {name} (calls `load()`)",
    "{path}: {name}: calls it",
    "{path}: {name}, which calls it",
    "/app/project/{path}: {name}",
    "web_shop_easy_001/{path}: {name}",
    "/srv/repos/web_shop_easy_001/{path}: {name}",
    "host.example/team/web_shop_easy_001@main/{path}: {name}",
    "https://host.example/web_shop_easy_001/-/blob/{path}: {name}",
    "https://host.example/team/web_shop_easy_001/blob/main/{path}: {name}",
    "{name} in {path}",
    "{name} ({path}:12)",
)
# Each of a function's line; the last item, which is none, is left as it is.
FUNCTIONS = (
    "{path}: {name}()",
    "{path}: {name}(self, x: int) -> None",
    "{path}: def {name}(self):",
    "{path}: async function {name}",
    "{path}: func {name}(x int) error",
    "{path}: pub fn {name}<T>(&self) -> T",
    "{path}: public static void {name}(Map<String, List<T>> x)",
    "{path}: static char *{name}(size_t size)",
    "{path}: def {name}[T](items: list[T]) -> T",
)
BLOCK = "```answer\n{lines}\n```"
WHOLE = {
    "a label with a colon": BLOCK.replace("answer", "answer:").format(lines="\n".join(ITEMS)),
    "label with a capital, in tildes": "~~~ Answer\n{lines}\n~~~".format(lines="\n".join(ITEMS)),
    "the whole file in a fence of four": "````markdown\n# Users\n\n" + BLOCK.format(lines="\n".join(ITEMS)) + "\n````",
    "indented, in a list": "- The answer:\n\n  ```answer\n  " + "\n  ".join(ITEMS) + "\n  ```",
    "a sentence first": BLOCK.format(lines="These use it:\n\n" + "\n".join(ITEMS)),
    "a heading a file": BLOCK.format(lines="\n\n".join(f"### {path}\n- {name}" for path, name in PAIRS)),
    "a file, then its names": BLOCK.format(lines="\n".join(f"{path}:\n  {name}" for path, name in PAIRS)),
    "a table": BLOCK.format(
        lines="| File | Name |\n|---|---|\n" + "\n".join(f"| `{path}` | `{name}` |" for path, name in PAIRS)
    ),
    "a table, names first, with remarks": BLOCK.format(
        lines="\n".join(f"| `{name}` | `{path}` | direct |" for path, name in PAIRS)
    ),
    "one JSON list": BLOCK.format(lines="[" + ", ".join(f'"{item}"' for item in ITEMS) + "]"),
    "JSON objects": BLOCK.format(
        lines="[" + ",\n ".join(f'{{"file": "{path}", "line": 12, "name": "{name}"}}' for path, name in PAIRS) + "]"
    ),
    "a JSON object, lists of names": BLOCK.format(
        lines="{" + ", ".join(f'"{path}": ["{name}"]' for path, name in PAIRS) + "}"
    ),
}
FILE_LINES = (
    "{path}",
    "- `./{path}`",
    "{path} (line 12)",
    "{path}:12",
    "{path}: from shop import basket",
)


def _filled(template: str, items: list[str]) -> str:
    pairs = [(item.partition(": ")[0], item.partition(": ")[2]) for item in items]
    return "\n".join(template.format(path=path, name=name) for path, name in pairs)


def right_answers() -> dict[str, tuple[str, dict[str, Any]]]:
    """Return (answer, key) of every format, by what stands for it in the table."""
    found = {line: (BLOCK.format(lines=_filled(line, ITEMS)), KEY) for line in LINES}
    found |= {line: (BLOCK.format(lines="\n".join([_filled(line, ITEMS[:-1]), ITEMS[-1]])), KEY) for line in FUNCTIONS}
    found |= {title: (text, KEY) for title, text in WHOLE.items()}
    return found | {f"files: {line}": (BLOCK.format(lines=_filled(line, FILES)), FILES_KEY) for line in FILE_LINES}


def wrong_answers() -> dict[str, str]:
    """Return answers that are wrong, partial or in no form that is read, by what they do."""
    everything = [f"{path}: {name}" for path, names in KEY["names"].items() for name in [*names, "<top level>"]]
    right, decoys = ITEMS, [item for item in everything if item not in ITEMS]
    listed = "\n".join(right)
    return {
        "the right list without a block": listed,
        "the right list in a block with another label": f"```text\n{listed}\n```",
        "the right list, then an empty block": BLOCK.format(lines=listed) + "\n\n" + BLOCK.format(lines=""),
        "names without their files": BLOCK.format(lines="\n".join(item.partition(": ")[2] for item in right)),
        "files without names": BLOCK.format(lines="\n".join(FILES)),
        "files with line numbers": BLOCK.format(lines="\n".join(f"{path}:12" for path in FILES)),
        "a folder, a pattern": BLOCK.format(lines="shop/: Orders.place\nshop/*.py: read_basket"),
        "right names, files exchanged": BLOCK.format(
            lines="\n".join(
                f"{path}: {item.partition(': ')[2]}" for path, item in zip([*FILES[1:], FILES[0]], right, strict=True)
            )
        ),
        "right files, other names": BLOCK.format(lines="\n".join(f"{path}: gather" for path in FILES)),
        "a bare name that two methods of the file have": BLOCK.format(lines="shop/orders.py: place"),
        "another name, the right one in a remark": BLOCK.format(
            lines="shop/orders.py: Orders.cancel  # calls Orders.place\nshop/basket.py: write_basket (see read_basket)"
        ),
        "prose with all files and names": BLOCK.format(
            lines="The method Orders.place in shop/orders.py uses read_basket, which shop/basket.py defines; at the"
            " <top level> of web/cart.spec.ts it is called as well."
        ),
        "one of the three": BLOCK.format(lines=right[0]),
        "the three and as many others": BLOCK.format(lines="\n".join([*right, *decoys[:3]])),
        "each name and another one on its line": BLOCK.format(
            lines="\n".join(f"{item}, {other.partition(': ')[2]}" for item, other in zip(right, decoys, strict=False))
        ),
        "every name of the three files": BLOCK.format(lines="\n".join(everything)),
        "every name of a hundred files": BLOCK.format(
            lines="\n".join([*(f"shop/other_{n}.py: helper" for n in range(100)), *everything])
        ),
        "the code of the three files": BLOCK.format(
            lines="\n".join(
                f"# {path}\n" + "\n".join(f"def {name.rpartition('.')[2]}(self):\n    pass" for name in names)
                for path, names in KEY["names"].items()
            )
        ),
        "grep's output": BLOCK.format(
            lines="\n".join(
                f"{path}:{number}:    basket = read_basket(path)" for path in FILES for number in (3, 14, 15)
            )
        ),
    }


PAGE = """# What answers to exact questions earn

Every question says: the answer is the last fenced block labelled `answer`, one item per line, and a line without both a
path and a name does not count. Within the block the verifier accepts many formats. Each answer below lists the three
items of one question:

```
{items}
```

| format of the right answer | earns |
|---|---|
{right}

`{{path}}` and `{{name}}` are those of each item. In rows that begin with `files:` the items of the question are files.
A line gives one item, or several names of one file between commas; a line with a path alone is the heading of the
names below it. What follows a name after a mark such as `#` is a remark. Not read: several files on a line,
folders, patterns, and paths that do not start at the root of the code base.

## Wrong and partial answers

Answers to the same question that are wrong, partial, or in another form:

| answer | earns |
|---|---|
{wrong}
"""


def formats_page() -> str:
    """Return docs/ANSWER_FORMATS.md."""
    right = {title: exact.score(text, key)["reward"] for title, (text, key) in right_answers().items()}
    wrong = {title: exact.score(text, KEY)["reward"] for title, text in wrong_answers().items()}
    return PAGE.format(
        items="\n".join(ITEMS),
        right="\n".join(f"| {_cell(title)} | {reward:.2f} |" for title, reward in right.items()),
        wrong="\n".join(f"| {title} | {reward:.2f} |" for title, reward in wrong.items()),
    )


def _cell(title: str) -> str:
    """Show a line's template as code and a description as it is."""
    if "{" not in title:
        return title
    kind, colon, line = title.partition(": ") if title.startswith("files: ") else ("", "", title)
    ticks = "``" if "`" in line else "`"
    space = " " if "`" in line else ""
    shown = line.replace("\t", "⇥").replace("|", "\\|")
    return f"{kind}{colon}{ticks}{space}{shown}{space}{ticks}"
