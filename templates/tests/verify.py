"""Score an answer against its task's key and write the reward: `verify.py [ROOT]`.

Reads ROOT/app/solution.md and ROOT/tests/ground_truth.json; writes ROOT/logs/verifier/reward.json and metrics.json.
Standard library only, Python 3.9 and newer, no network. The task generator imports this file to build the key, so
the words of the truth and of the answer are cut the same way.
"""

from __future__ import annotations

import functools
import json
import os
import re
import signal
import stat
import sys

VERSION = "1.0"

# What a scoring may set, with the defaults. The four weights are the benchmark's; the rest say what earns credit.
SCORING = {
    "weights": {"keyword_overlap": 0.5, "file_references": 0.2, "code_blocks": 0.2, "length_score": 0.1},
    # How many words one identifier counts for: it cannot be guessed, and it cannot be worded otherwise.
    "symbol_weight": 3,
    # F1 that prose about another part of the same code base reaches; credit starts above it.
    "keyword_floor": 0.2,
    # Keyword credit from which on code and length count fully: alone they prove nothing.
    "support": 0.2,
    # Identifiers of the truth that fenced code must show for full credit (fewer when the truth has fewer).
    "code_symbols": 5,
    # Share of the fenced code's identifiers that the truth must know; a dump of unrelated code falls below.
    "code_precision": 0.35,
    # Words for the full length score.
    "length_words": 100,
}

# Nobody writes a longer report; what follows is not read, so that no answer can be too large to score.
MAX_ANSWER_BYTES = 256 * 1024
TIME_LIMIT_SECONDS = 8

_WORD = re.compile(r"[^\W\d]\w*")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_PATH = re.compile(r"[\w.+@~#$%&\-/\\]+", re.ASCII)
_LONGEST_PATH = 4096
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f](?:(?<=\x1b)\[[0-9;?]*[ -/]*[@-~])?")
_FENCE = re.compile(r"^[ \t>]*(?:[-*+] +|\d+[.)] +)?(`{3,}|~{3,})(.*)$")

# Words that carry no knowledge of one code base: everyday English, and what every report about code says.
_COMMON = """
a about above across actual actually add added adding additional address adds after again against all allow
allowed allows almost along already also although always among an and another any anything app application
applications apply approach are around as ask at available avoid avoids away back based basic be because
become been before behavior behaviour being below best better between beyond bit block both break bring
build but by call called caller callers calling calls came can cannot care case cases cause caused causes
causing certain change changed changes changing check checked checks class classes clean clear clearly code
codebase come comes common complete completely component components concern consider consists contain
contained contains context correct correctly could create created creates creating creation critical current
currently data deal default define defined defines defining definition depend dependency dependent depends
describe described description design desired detail detailed details determine developer different
difficult direct directly do document documentation does doing done down due during each easily easy effect
effectively either element else end enough ensure ensures ensuring entire entirely entry error errors
especially etc even ever every everything exact exactly example except exist existing exists expect expected
explain explanation extra fact fail failed fails failure far few field fields file files final finally find
first fix fixed flow focus follow followed following follows for form found from full fully function
functionality functions further general get gets getting give given gives giving go goes good group had
handle handled handler handles handling has have having help hence here high higher how however if
immediately impact implement implementation implemented implementing implements important improve in include
included includes including incorrect indeed individual information initial input inside instance instead
intended internal into introduce introduced introduces introducing involve involved involves is issue issues
it its itself just keep keeps key kind know known large last later layer lead leading leads least left less
let level like likely line lines list local logic logical long look looks lot made main mainly make makes
making manage managed management manager many mean meaning means mechanism member method methods might model
modification modified modify module modules more most move moved much multiple must name named namely names
naturally necessary need needed needs never new next no non none not note nothing now number object objects
occur of off often old on once one only onto operation operations option or order original other others
otherwise our out outcome output outside over overall own parameter parameters part particular pass passed
passes passing path paths pattern per perform performance performed performs place point points possible
potential present prevent prevents previous primary problem problems process processed processes processing
produce program project proper properly property propose proposed provide provided provides providing public
purpose put question quickly rather reach read reading reads real really reason reasons receive received
recommend reduce refactor refactored refactoring refer reference relevant rely remain remains remove removed
removes replace replaced represent request require required requirement requirements requires resolve
respect response responsibility responsible rest result resulting results return returned returning returns
right risk robust role root run running runs safe same say second section see seen separate series service
services set sets several shall should show shown shows significant similar simple simply since single small
so software solution some something source specific specifically standard start started starts state
statement step steps still stop store structure subsequent such suggest sure system systems take taken takes
task tasks technical test tested testing tests than that the their them themselves then there therefore
these they thing things this those though three through throughout thus time times to together too total
toward tracks trigger triggered try turn two type types typically under understand understanding unit unless
until up update updated updates upon us usage use used useful user users uses using usually valid value
values variable various version very via view want was way ways we well were what when where whether which
while whole whose why will with within without work working works would write writes writing written wrong
yet you your
"""


def plain(text):
    """Return `text` without control characters and terminal colours."""
    return _CONTROL.sub(" ", text)


@functools.lru_cache(maxsize=1 << 12)
def stem(word):
    """Cut a lower-case word's inflection, so that `caches`, `cached` and `caching` are one word."""
    for suffix, keep in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= keep:
            return word[: len(word) - len(suffix)]
    return word


# Longest first; the number is how many letters must remain.
_SUFFIXES = (
    ("ations", 4), ("ation", 4), ("ities", 4), ("ments", 4), ("ings", 4), ("ment", 4), ("ions", 4), ("ies", 3),
    ("ing", 4), ("ion", 4), ("ity", 4), ("ers", 4), ("ors", 4), ("ed", 3), ("es", 3), ("er", 4), ("or", 4),
    ("ly", 4), ("s", 3), ("e", 3), ("y", 3),
)  # fmt: skip
COMMON = frozenset(stem(word) for word in _COMMON.split())


@functools.lru_cache(maxsize=4)
def tokens(text):
    return frozenset(_WORD.findall(text))


@functools.lru_cache(maxsize=1 << 12)
def informative(token):
    """Return the stems of a word's parts (snake_case, camelCase) of 3 letters or more, less the everyday ones."""
    if not token.isascii():
        return frozenset((token.lower(),))
    return frozenset(stem(part.lower()) for part in _PART.findall(token) if len(part) > 2) - COMMON


def words(text):
    """Return the informative words of `text`: stems of words and of the parts of identifiers."""
    return set().union(*map(informative, tokens(text)))


@functools.lru_cache(maxsize=1 << 12)
def symbol(token):
    """Return an identifier of several parts (snake_case, camelCase, with digits) in lower case, "" for other words."""
    name = token.strip("_")
    several = len(_PART.findall(name)) > 1 or any(character.isdigit() for character in name)
    return name.lower() if several else ""


def symbols(text):
    """Return the identifiers of several parts in `text`."""
    return set(map(symbol, tokens(text))) - {""}


@functools.lru_cache(maxsize=2)
def spellings(files):
    """Return (names, rare): a map from every way to name one of `files` to it, and the names that _PATH does not take.

    A file's names are its path and those of its endings that no other file shares. A base name that is an identifier
    of several parts (`OrderBook.java`, `price_cache.py`) does without its extension.
    """
    names, shared = {}, set()
    for path in files:
        base = path.rpartition("/")[2]
        short = base.partition(".")[0]
        endings = [short] if short != base and symbol(short) else []
        ending = path
        while ending := ending.partition("/")[2]:
            endings.append(ending)
        for name in endings:
            if names.setdefault(name, path) != path:
                shared.add(name)
    for name in shared:
        del names[name]
    names.update((path, path) for path in files)
    # What is part of a path that _PATH takes is taken itself.
    odd = {path for path in files if not _PATH.fullmatch(path)}
    return names, [name for name, path in names.items() if path in odd and not _PATH.fullmatch(name)]


@functools.lru_cache(maxsize=1 << 12)
def path_forms(token, prefixes):
    """Return what a word of _PATH may mean by a path, likeliest first: with and without what stands around it."""
    if len(token) > _LONGEST_PATH:
        return ()
    path = token.replace("\\", "/").rstrip("./-").lstrip("./@~")
    # `cache.h/cpp` names cache.h and `cache.c/lookup` names cache.c: the last part may be no part of the path.
    forms = (token, path, path.rpartition("/")[0])
    return tuple(name for form in forms for name in (form, *(form[len(p) :] for p in prefixes if form.startswith(p))))


def mentioned_files(text, files, roots=()):
    """Return the `files` that `text` names by path, unique ending or unique base name; never inside another word.

    `roots` are folder names that may stand before a path (the project's own folder).
    """
    names, rare = spellings(frozenset(files))
    prefixes = tuple(f"{root}/" for root in ("app/project", "project", *roots))
    found = set()
    for token in set(_PATH.findall(text)):
        if token in names:
            found.add(names[token])
        # There is nothing to take off a plain word, and most are.
        elif not token.isalnum():
            known = next((names[name] for name in path_forms(token, prefixes) if name in names), None)
            if known is not None:
                found.add(known)
    for name in rare:
        if name in text and re.search(r"(?<![\w/])" + re.escape(name) + r"(?!\w)", text):
            found.add(names[name])
    return found


def fenced_code(text):
    """Return the text inside Markdown code fences; an open fence runs to the end, as CommonMark has it."""
    inside, mark, code = False, "", []
    for line in text.splitlines():
        match = _FENCE.match(line)
        if not inside:
            if match:
                inside, mark = True, match[1]
        elif match and match[1].startswith(mark) and not match[2].strip():
            inside = False
        else:
            code.append(line)
    return "\n".join(code)


def f1(matched, claimed, wanted):
    """Return (precision, recall, F1) of sets given by their sizes; 0 where nothing is claimed or wanted."""
    precision = matched / claimed if claimed else 0.0
    recall = matched / wanted if wanted else 0.0
    return precision, recall, 2 * precision * recall / (precision + recall) if matched else 0.0


def above(value, floor):
    """Return how far `value` is between `floor` and 1, from 0 to 1 (Cohen's correction for chance)."""
    return max(0.0, (value - floor) / (1 - floor))


def score(answer, key):
    """Return the metrics of `answer`: `reward` (0-1), each component (0-1), and what they were made from."""
    scoring = key["scoring"]
    answer = plain(answer)
    given, wanted_words, wanted_symbols = set(key["given"]), set(key["words"]), set(key["symbols"])

    said, named = words(answer) - given, symbols(answer) - given
    weight = scoring["symbol_weight"]
    precision, recall, overlap = f1(
        len(said & wanted_words) + weight * len(named & wanted_symbols),
        len(said) + weight * len(named),
        len(wanted_words) + weight * len(wanted_symbols),
    )
    credit = above(overlap, scoring["keyword_floor"])
    support = min(1.0, credit / scoring["support"])
    components = {"keyword_overlap": credit}
    metrics = {
        "keywords": {"precision": precision, "recall": recall, "f1": overlap},
        "matched_keywords": sorted(said & wanted_words | named & wanted_symbols),
        "missed_keywords": sorted(wanted_words - said | wanted_symbols - named),
    }

    if key["relevant_files"]:
        relevant = set(key["relevant_files"])
        claimed = mentioned_files(answer, key["files"], key["roots"]) - set(key["given_files"])
        precision, recall, overlap = f1(len(claimed & relevant), len(claimed), len(relevant))
        # Naming every file has full recall; what that earns is chance and is taken off.
        chance = f1(len(relevant), len(set(key["files"]) - set(key["given_files"])), len(relevant))[2]
        components["file_references"] = above(overlap, chance)
        metrics["files"] = {"precision": precision, "recall": recall, "f1": overlap, "chance": chance}
        metrics["matched_files"] = sorted(claimed & relevant)
        metrics["missed_files"] = sorted(relevant - claimed)
        metrics["other_files"] = sorted(claimed - relevant)

    if key["code_symbols"]:
        truth = set(key["code_symbols"])
        shown = symbols(fenced_code(answer)) - given
        needed = min(len(truth), scoring["code_symbols"])
        known = len(shown & wanted_symbols) / len(shown) if shown else 0.0
        enough = min(1.0, len(shown & truth) / needed) * min(1.0, known / scoring["code_precision"])
        components["code_blocks"] = enough * support
        metrics["code"] = {"precision": known, "matched_symbols": sorted(shown & truth), "needed": needed}

    length = len(answer.split())
    components["length_score"] = min(1.0, length / key["length_words"]) * support
    weights = dict(scoring["weights"])
    # What a truth does not have (a file of the project, an identifier) cannot be asked for: the words get its weight.
    for name in [name for name in weights if name not in components]:
        weights["keyword_overlap"] += weights.pop(name)
    reward = sum(weights[name] * components[name] for name in weights) / sum(weights.values())
    return {
        "reward": round(min(1.0, max(0.0, reward)), 6),
        "components": {name: round(value, 6) for name, value in components.items()},
        "weights": weights,
        "length_words": length,
        "scoring_version": VERSION,
        **metrics,
    }


def read_answer(path):
    """Return (text, "") of a regular file, at most MAX_ANSWER_BYTES of it, or ("", why there is none)."""
    try:
        # Not through a link, and without waiting for the other end of a pipe.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        return "", f"no answer: {error.strerror}"
    with os.fdopen(descriptor, "rb") as stream:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return "", "no answer: not a regular file"
        return stream.read(MAX_ANSWER_BYTES).decode("utf-8", "replace"), ""


def write_whole(path, value):
    """Write JSON beside `path` and rename it there."""
    part = path + ".part"
    with open(part, "w", encoding="utf-8") as stream:
        json.dump(value, stream, indent=1)
        stream.write("\n")
    os.replace(part, path)


def main(root):
    signal.alarm(TIME_LIMIT_SECONDS)
    with open(f"{root}/tests/ground_truth.json", encoding="utf-8") as stream:
        key = json.load(stream)["key"]
    answer, problem = read_answer(f"{root}/app/solution.md")
    metrics = score(answer, key)
    if problem:
        metrics["problem"] = problem
    write_whole(f"{root}/logs/verifier/metrics.json", metrics)
    write_whole(f"{root}/logs/verifier/reward.json", {"reward": metrics["reward"]})
    print(f"reward {metrics['reward']} {metrics['components']} {problem}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
