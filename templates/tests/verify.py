"""Score an answer against its task's key and write the reward: `verify.py [ROOT]`.

Reads ROOT/app/solution.md and ROOT/tests/ground_truth.json; writes ROOT/logs/verifier/reward.json and metrics.json.
Standard library only, Python 3.9 and newer, no network. The task generator imports this file to build the key, so
the words of the truth, of the code base and of the answer are cut the same way.

What is scored is evidence: statements in the answer's own words about identifiers that the code base really has,
best in the file that the statement names. docs/VERIFIER.md says what each component means and what it is worth.
"""

from __future__ import annotations

import array
import binascii
import collections
import functools
import html
import json
import math
import os
import re
import signal
import stat
import sys

VERSION = "2.0"

# What a scoring may set, with the defaults. The four weights are the benchmark's; the rest say what earns credit.
SCORING = {
    "weights": {"keyword_overlap": 0.5, "file_references": 0.2, "code_blocks": 0.2, "length_score": 0.1},
    # Evidence: identifiers of the code base in statements. One of several parts (`evict_expired`) counts 1, one of a
    # single part that is called or qualified (`Queue::nack`) less, as it may be guessed; so may one that many files
    # have. Put into its file it counts twice; outside the passages that the task is about it counts less.
    "single_part": 0.5,
    "widespread": 0.25,
    "elsewhere": 0.5,
    # Evidence for full credit in a large code base; about half the credit is earned at `half_credit` of it.
    "full_evidence": 60,
    "half_credit": 0.08,
    # Share of the identifiers in the answer's statements that must exist for any credit and for full credit.
    "trust_floor": 0.5,
    "trust_full": 0.8,
    # Different words of its own that an answer needs, in all and for each identifier; with fewer it is a list.
    "own_words": 42,
    "words_per_name": 4,
    # Agreement of the answer's words with those of task and truth for any and for full credit: [where the truth is
    # untrue of the code base, where it is true of it]; and what is left of an answer to another question.
    "topic_floor": [0.175, 0.36],
    "topic_full": [0.205, 0.43],
    "off_topic": 0.08,
    # How much the words decide at most that a true truth adds to the task, and the agreement for any and for all of it.
    "truth_weight": 0.9,
    "truth_floor": 0.22,
    "truth_full": 0.32,
    # How much the phrases of a truth that is true of the code base decide at most, and the agreement for all of it.
    "phrase_weight": 0.3,
    "phrase_full": 0.7,
    # Files backed by evidence, and lines of code shown, for full credit.
    "files": 5,
    "code_lines": 3,
    # Keyword credit from which on the length counts fully, and the words it takes.
    "support": 0.3,
    "length_words": 100,
}

# Nobody writes a longer report; what follows is not read, so that no answer can be too large to score.
MAX_ANSWER_BYTES = 256 * 1024
TIME_LIMIT_SECONDS = 8
# A statement that names more files than this puts nothing into any of them.
MOST_FILES_NAMED = 4
# With fewer words of its own a block of text says nothing about what it names.
FEWEST_OWN_WORDS = 3
# Everyday English words are half of English prose; of German or Spanish prose they are a twentieth.
ENGLISH_SHARE = 0.12
# Share of a statement's wording, three words at a time, that must not have been said before: a form filled in again and
# again says nothing.
FRESH_SHARE = 0.67
# Different informative words by which a stretch of text is known to be on the topic. A long answer need not be in every
# part, and a long answer to another question gets there by no part.
STRETCH = 80
# Words and phrases of an answer that are compared with the truth's: more of them cost nothing.
TYPICAL_SIZE = 150
# Characters of a project's line by which it is known when it is quoted: in all at the least, and of its beginning.
SHORTEST_LINE = 14
LINE_START = 16
# A longer code span is a quotation, no name.
LONGEST_NAME = 48

_WORD = re.compile(r"[^\W\d]\w*")
_WORD_OR_NUMBER = re.compile(r"[^\W\d]\w*|\d+(?:[.,:]\d+)*%?")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_PATH = re.compile(r"[\w.+@~#$%&\-/\\]+", re.ASCII)
_NUMBERED = re.compile(r"[A-Za-z]{2,}_\d+")
_LONGEST_PATH = 4096
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f](?:(?<=\x1b)\[[0-9;?]*[ -/]*[@-~])?")
_FENCE = re.compile(r"^[ \t>]*(?:[-*+] +|\d+[.)] +)?(`{3,}|~{3,})(.*)$")
_ITEM = re.compile(r"[ \t>]*(?:[-*+]|\d+[.)])[ \t]+")
_INDENTED = re.compile(r" {4}|\t")
_HEADING = re.compile(r"#{1,6}(?:\s|$)")
_TAG = re.compile(r"<[^<>]*>")
_CODE_TAG = re.compile(r"</?(?:code|tt|kbd)>", re.IGNORECASE)
_SPAN = re.compile(r"(?<!`)(`+)(?!`)([^`]{1,200}?)(?<!`)\1(?!`)")
_SOLID = re.compile(r"\S+")
_SLASH = re.compile(r"\w/\w")
_EMPHASIS = re.compile(r"(?<![\w*])([*_]{1,3})([A-Za-z]\w{0,60}?)\1(?![\w*])")
_SPACED = re.compile(r"[A-Za-z]\w*(?:[ \-]\w+){1,4}")
# What is called, or stands behind `.`, `->` or `::`, or fills a code span.
_MEMBER = re.compile(r"(?<=::)\w+|(?<=->)\w+|(?<=[\w\])]\.)[A-Za-z_]\w*|\b[A-Za-z_]\w*(?=\()|^[A-Za-z_]\w*$")
# Backslashes of Markdown; one before a letter may be a folder's.
_ESCAPE = re.compile(r"\\([\\`*_{}\[\]()#+\-.!<>|])")
# What makes a word a path or a compound and no word of prose.
_JOINED = re.compile(r"[/\\_.]\w|[a-z][A-Z]")

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


def american(word):
    """Return a lower-case word with British spellings told as American ones; the result need not be a word."""
    for british, other in _SPELLINGS:
        word = word.replace(british, other)
    return word


# Both sides of every comparison go through this, so what it does to other words costs nothing.
_SPELLINGS = (
    ("isation", "ization"), ("ise", "ize"), ("ising", "izing"), ("yse", "yze"), ("ysing", "yzing"), ("our", "or"),
    ("ll", "l"), ("ence", "ense"), ("tre", "ter"), ("ogue", "og"), ("grey", "gray"),
)  # fmt: skip


@functools.lru_cache(maxsize=1 << 12)
def stem(word):
    """Cut a lower-case word's inflection, so that `caches`, `cached` and `caching` are one word."""
    word = american(word)
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
EVERYDAY = frozenset(_COMMON.split())
COMMON = frozenset(stem(word) for word in EVERYDAY)


def tokens(text):
    return frozenset(_WORD.findall(text))


@functools.lru_cache(maxsize=1 << 12)
def stems(token):
    """Return the stems of a word's parts (snake_case, camelCase) of 3 letters or more, less the everyday ones."""
    if not token.isascii():
        return (token.lower(),)
    parts = (stem(part.lower()) for part in _PART.findall(token) if len(part) > 2)
    return tuple(part for part in parts if part not in COMMON)


def words(text):
    """Return the informative words of `text`: stems of words and of the parts of identifiers."""
    return set().union(*map(stems, tokens(text)))


def phrases(text):
    """Return the pairs of informative words or numbers in `text` with at most one other of them between."""
    found = []
    for word in _WORD_OR_NUMBER.findall(text):
        found += (word,) if word[0].isdigit() else stems(word)
    return {f"{word} {other}" for place, word in enumerate(found) for other in found[place + 1 : place + 3]}


@functools.lru_cache(maxsize=1 << 12)
def symbol(token):
    """Return the one form of an identifier of several parts (`evict_expired`, `evictExpired`), "" for other words.

    Acronyms and versions (`IDs`, `v1`, `SHA256`) have but one part of two letters or more; products are a list.
    """
    if len(token) < 5 or not token.isascii():
        return ""
    if sum(len(part) > 1 for part in _PART.findall(token)) < 2:
        return ""
    name = american(token.replace("_", "").replace("$", "").lower())
    return "" if name in _PRODUCTS else name


_PRODUCT_NAMES = """
airflow bigquery bitbucket circleci clickhouse cloudwatch couchdb devops dynamodb elasticsearch fastapi github gitlab
graphql grpc influxdb javascript junit kubernetes leveldb linkedin macos mongodb mysql nodejs numpy nunit oauth
openapi opencv opengl openssl paypal phpunit postgresql pytorch rabbitmq rocksdb scikitlearn springboot sqlite
tensorflow typescript webassembly webgl webpack websocket websockets xunit youtube
"""
_PRODUCTS = frozenset(american(name) for name in _PRODUCT_NAMES.split())


def symbols(text):
    """Return the identifiers of several parts in `text`."""
    return set(map(symbol, tokens(text))) - {""}


@functools.lru_cache(maxsize=1 << 12)
def member(token):
    """Return the form of an identifier of a single part that code calls (`nack`), "" for everyday words and others."""
    name = token.strip("_").lower()
    fits = len(name) > 2 and name.isascii() and name.isalnum() and not name[0].isdigit() and not symbol(token)
    return american(name) if fits and stem(name) not in COMMON else ""


@functools.lru_cache(maxsize=2)
def spellings(files):
    """Return (names, rare): a map from every way to name one of `files` to it, and the names that _PATH does not take.

    A file's names are its path and those of its endings that no other file shares. A base name that is an identifier
    of several parts (`OrderBook.java`, `price_cache.py`, `module_7.c`) does without its extension.
    """
    names, shared = {}, set()
    for path in files:
        base = path.rpartition("/")[2]
        short = base.partition(".")[0]
        endings = [short] if short != base and (symbol(short) or _NUMBERED.fullmatch(short)) else []
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
    path = token.replace("\\", "/").partition("#")[0].rstrip("./-").lstrip("./@~")
    # `cache.h/cpp` names cache.h and `cache.c/lookup` names cache.c: the last part may be no part of the path. So may
    # what stands behind the name of a class that has a file.
    forms = (token, path, path.rpartition("/")[0], path.partition(".")[0])
    return tuple(name for form in forms for name in (form, *(form[len(p) :] for p in prefixes if form.startswith(p))))


def mentioned_files(text, files, roots=()):
    """Return the `files` that `text` names by path, unique ending or unique base name; never inside another word.

    `roots` are folder names that may stand before a path (the project's own folder).
    """
    names, rare = spellings(frozenset(files))
    prefixes = tuple(f"{root}/" for root in ("app/project", "project", "a", "b", *roots))
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
        if name in text and re.search(r"(?:(?<![\w/])|(?<=project/)|(?<=\./))" + re.escape(name) + r"(?!\w)", text):
            found.add(names[name])
    return found


def read_markdown(text):
    """Return (blocks, code) of Markdown: blocks are (text, is a heading); code is a list of lines.

    A block is a paragraph, an item of a list, a row of a table or a heading. Code stands in a fence, in <pre> or is
    indented; an open fence runs to the end, as CommonMark has it.
    """
    blocks, code, paragraph = [], [], []
    mark, in_list, after_blank, in_indented = "", False, True, False

    def end_paragraph():
        if paragraph:
            blocks.append(("\n".join(paragraph), False))
            paragraph.clear()

    for line in text.splitlines():
        fence = _FENCE.match(line)
        bare = line.strip()
        if mark == "<pre":
            before, closing, _ = line.lower().partition("</pre")
            code.append(line[: len(before)])
            mark = "" if closing else mark
        elif mark:
            if fence and fence[1].startswith(mark) and not fence[2].strip():
                mark = ""
            else:
                code.append(line)
        elif not bare:
            end_paragraph()
            after_blank = True
        elif _INDENTED.match(line) and (after_blank or in_indented) and not in_list and not fence:
            end_paragraph()
            code.append(line)
            in_indented, after_blank = True, False
        else:
            item = _ITEM.match(line)
            if fence or item or bare[0] in "#|" or bare[:4].lower() == "<pre":
                end_paragraph()
            if fence:
                mark = fence[1]
            elif bare[:4].lower() == "<pre":
                code.append(_TAG.sub("", bare))
                mark = "" if "</pre" in bare.lower() else "<pre"
            elif _HEADING.match(bare):
                blocks.append((bare.lstrip("#"), True))
                in_list = False
            elif bare[0] == "|":
                blocks.append((bare, False))
            else:
                in_list = bool(item) or (in_list and not (after_blank and not line[0].isspace()))
                paragraph.append(bare)
            after_blank = in_indented = False
    end_paragraph()
    return blocks, code


def sum_of(text, start=0):
    """Return the 32-bit sum of a string, on top of another's."""
    return binascii.crc32(text.encode("utf-8", "surrogateescape"), start)


def pack(sums):
    """Return a set of 32-bit sums as text."""
    numbers = array.array("I", sorted(sums))
    if sys.byteorder == "big":
        numbers.byteswap()
    return binascii.b2a_base64(numbers.tobytes(), newline=False).decode()


def unpack(text):
    numbers = array.array("I", binascii.a2b_base64(text))
    if sys.byteorder == "big":
        numbers.byteswap()
    return frozenset(numbers)


# What a line of code may lose or gain when it is quoted: indentation, comment marks, quoting.
_FORMATTING = b" \t\r\x0b\x0c`*/#\"'\\>"


def line_form(line):
    """Return bytes of code without what Markdown, comment marks and indentation add to it."""
    return line.translate(None, _FORMATTING)


def _blank(match):
    """Return as many NULs as the match has bytes."""
    return "\0" * len(match[0].encode("utf-8", "replace"))


class Index:
    """What the key knows of the code base: which identifiers it has, in which files, and its lines.

    Each part is a set of 32-bit sums: a name that does not exist is taken for one that does in one of a million cases.
    """

    PARTS = ("rare", "widespread", "places", "lines", "starts")

    def __init__(self, rare, widespread, places, lines, starts):
        self.rare, self.widespread, self.places, self.lines, self.starts = rare, widespread, places, lines, starts

    @classmethod
    def read(cls, stored):
        return cls(*(unpack(stored[part]) for part in cls.PARTS))

    def stored(self):
        return {part: pack(getattr(self, part)) for part in self.PARTS}

    def has(self, name):
        total = sum_of(name)
        return total in self.rare or total in self.widespread

    def known(self, name):
        """Return the name, or its singular, when the code base has it, else ""."""
        if self.has(name):
            return name
        return name[:-1] if name.endswith("s") and self.has(name[:-1]) else ""

    def is_rare(self, name):
        return sum_of(name) in self.rare

    def holds(self, path, name):
        """Tell whether the file holds the identifier."""
        return sum_of(name, sum_of(path)) in self.places

    def quoted(self, line):
        """Return the sum of a line that stands in the code base, 0 for any other."""
        text = line_form(line.encode("utf-8", "replace"))
        total = binascii.crc32(text)
        return total if len(text) >= SHORTEST_LINE and total in self.lines else 0

    def without_quotes(self, text):
        """Return one line of `text` without what it takes from the code base, and the sums of lines quoted whole."""
        quotes = {self.quoted(span[2]) for span in _SPAN.finditer(text)}
        prose = _SPAN.sub(lambda span: " " if len(span[2]) > LONGEST_NAME else span[0], text)
        # Outside code spans and paths: from where a line of the code base begins, the rest is taken for that line.
        bare = _SPAN.sub(_blank, prose)
        bare = _SOLID.sub(lambda word: _blank(word) if _SLASH.search(word[0]) else word[0], bare)
        bare = bare.encode("utf-8", "replace")
        kept = [place for place, byte in enumerate(bare) if byte not in _FORMATTING]
        packed = line_form(bare)
        for place in range(len(packed) - LINE_START + 1):
            if binascii.crc32(packed[place : place + LINE_START]) in self.starts:
                quotes.add(self.quoted(bare[kept[place] :].decode("utf-8", "replace")))
                prose = prose.encode("utf-8", "replace")[: kept[place]].decode("utf-8", "replace")
                break
        return prose, quotes - {0}


def unescaped(text):
    """Return a block of Markdown as it is meant: `\\_` is `_`, `&lt;` is `<`, <code> is a code span."""
    return html.unescape(_ESCAPE.sub(r"\1", _CODE_TAG.sub("`", text)))


def claims(text):
    """Return (names, maybe, members): what `text` says are identifiers.

    `names` are presented as such: compounds in code spans, and what is spelled or called so (`snake_case`,
    `camelCase`, `Call()`). `maybe` holds other capitalised compounds, which may be product names, and several words in
    one span. `members` are of a single part: called, qualified, or alone in a span.
    """
    names, maybe, members = set(), set(), set()
    for span in _SPAN.finditer(text):
        names.update(map(symbol, _WORD.findall(span[2])))
        members.update(member(match[0]) for match in _MEMBER.finditer(span[2]))
        if _SPACED.fullmatch(span[2]):
            maybe.add(american(re.sub(r"[\W_]", "", span[2]).lower()))
    bare = _SPAN.sub(" ", text)
    members.update(member(match[2]) for match in _EMPHASIS.finditer(bare))
    for match in _WORD.finditer(bare):
        token = match[0]
        certain = "_" in token.strip("_") or token[0].islower() or bare[match.end() : match.end() + 1] == "("
        (names if certain else maybe).add(symbol(token))
    return names - {""}, maybe - {""}, members - {""}


def triples(found):
    """Return the sum of every three words in sequence."""
    return [sum_of(" ".join(found[place : place + 3])) for place in range(len(found) - 2)]


def all_words(text):
    return [word.lower() for word in _WORD.findall(text) if len(word) > 1]


def prose_words(text):
    """Return the words of a block's prose in lower case: no code span, path or compound."""
    return all_words(_SOLID.sub(lambda word: " " if _JOINED.search(word[0]) else word[0], _SPAN.sub(" ", text)))


def own_words(found, told):
    """Return the words that are not repeated, three in sequence, from the instruction."""
    echoed = {place + step for place, total in enumerate(triples(found)) if total in told for step in range(3)}
    return {word for place, word in enumerate(found) if place not in echoed}


class Evidence:
    """What an answer says that can be looked up in the code base.

    Attributes:
        places: the identifiers that exist, in statements, and the files that the answer rightly puts each into.
        compounds: those of them that have several parts.
        invented: identifiers that exist neither in the code base nor in the truth or the instruction.
        own_words: different words of the statements about them.
        prose: every word of prose, counted.
        quotes: sums of the code base's lines that are quoted.
        shown: other identifiers of the code base in the answer's code.
        parts: the answer, cut into its blocks and lines of code.
    """

    def __init__(self, answer, key, index):
        self.places, self.compounds, self.invented, self.own_words = {}, set(), set(), set()
        self.prose, self.quotes = collections.Counter(), set()
        self._key, self._index = key, index
        self._given, self._truth, self._told = set(key["given"]), set(key["symbols"]), unpack(key["told"])
        self._spare_words, self._said = 0, set()
        blocks, code = read_markdown(answer)
        self.parts = [text for text, _ in blocks] + code
        section = frozenset()
        for text, is_heading in blocks:
            text = self._without_quotes(unescaped(text))
            files = mentioned_files(text, key["files"], key["roots"])
            if is_heading:
                section = files
            self._read(text, files or section)
        self.shown = set()
        for line in code:
            quote = index.quoted(line)
            if quote:
                self.quotes.add(quote)
            else:
                self.shown.update(filter(index.has, symbols(line)))
        self.shown -= self._given

    def _without_quotes(self, text):
        lines = []
        for line in text.splitlines():
            prose, quotes = self._index.without_quotes(line)
            lines.append(prose)
            self.quotes |= quotes
        return "\n".join(lines)

    def _read(self, text, files):
        """Take in one statement, which names `files` or stands below a heading that does."""
        names, maybe, members = claims(text)
        known = {self._index.known(name) for name in names | maybe} - {""}
        self.compounds |= known
        self.invented |= {name for name in names if not self._index.known(name)} - self._truth - self._given
        found = prose_words(text)
        self.prose.update(found)
        said = triples(found)
        new = [total for total in said if total not in self._said]
        self._said.update(new)
        if len(new) < FRESH_SHARE * len(said):
            return
        own = own_words(found, self._told)
        self._spare_words += len(own - self.own_words)
        existing = (known | {self._index.known(name) for name in members}) - {""} - self._given
        if not existing or len(own) < FEWEST_OWN_WORDS:
            return
        self.own_words |= own
        placed = len(files) <= MOST_FILES_NAMED
        for name in sorted(existing):
            if name not in self.places:
                # A list of names is no statement about each of them.
                if self._spare_words < self._key["scoring"]["words_per_name"]:
                    continue
                self._spare_words -= self._key["scoring"]["words_per_name"]
            places = self.places.setdefault(name, set())
            places.update(path for path in files if placed and self._index.holds(path, name))


def share(value, floor, full):
    """Return how far `value` is from `floor` to `full`, 0 to 1."""
    return min(1.0, max(0.0, (value - floor) / (full - floor))) if full > floor else float(value >= full)


def rising(value, half, full):
    """Return a concave credit: 0 at 0, about half at `half` of `full`, 1 from `full` on."""
    return min(1.0, value * (1 + half) / (value + half * full)) if value > 0 else 0.0


def agreement(said, wanted):
    """Return F0.5 of two sets of words: precision counts twice as much as recall, so that terse answers lose little.

    Of a long answer no more than TYPICAL_SIZE words are counted against it.
    """
    common = len(said & wanted)
    precision, recall = common / max(1, min(len(said), TYPICAL_SIZE)), common / max(1, len(wanted))
    return 1.25 * min(1.0, precision) * recall / (0.25 * min(1.0, precision) + recall) if common else 0.0


def topic_words(text):
    return words(text) | {"$" + name for name in symbols(text)}


def stretches(parts):
    """Return the informative words of consecutive stretches of a text, each of STRETCH words or somewhat more."""
    found, current = [], set()
    for part in parts:
        current |= topic_words(part)
        if len(current) >= STRETCH:
            found.append(current)
            current = set()
    return [*found, current]


def measure(answer, key, index):
    """Return (what is measured of `answer`, before it is held against what is needed; the evidence itself)."""
    scoring = key["scoring"]
    seen = Evidence(answer, key, index)
    relevant, relevant_files = set(key["relevant"]), set(key["relevant_files"])
    guess = {name: 1.0 if index.is_rare(name) else scoring["widespread"] for name in seen.places}
    worth = {
        name: guess[name]
        * (1.0 if name in seen.compounds else scoring["single_part"])
        * (1.0 if name in relevant else scoring["elsewhere"])
        * (2 if places else 1)
        for name, places in seen.places.items()
    }
    evidence = sum(worth[name] for name in sorted(worth))
    # A common name is no proof of having read the code, yet no invention either. Half a name more, for short answers.
    honest = 0.5 + sum(max(0.5, guess[name]) for name in sorted(guess))
    backed = set().union(*seen.places.values())
    spoken = sum(seen.prose.values())
    said, topic = topic_words(answer), set(key["topic_words"])
    found = {
        "evidence": evidence,
        "relevant_share": sum(worth[name] for name in sorted(worth) if name in relevant) / evidence
        if evidence
        else 0.0,
        "trust": honest / (honest + len(seen.invented)),
        "own_words": len(seen.own_words),
        # Ten words are a fifth of any text that somebody wrote, in any language, and few of a list of words.
        "natural": share(sum(count for _, count in seen.prose.most_common(10)) / max(1, spoken), 0.1, 0.17),
        "english": sum(count for word, count in seen.prose.items() if word in EVERYDAY) / max(1, spoken)
        >= ENGLISH_SHARE,
        "topic": max(agreement(part, topic) for part in stretches(seen.parts)),
        "truth": agreement(said - set(key["given"]), set(key["words"]) | {"$" + name for name in key["symbols"]}),
        "phrases": agreement(phrases(answer) - set(key["told_phrases"]), set(key["phrases"])),
        "files": sum(1.0 if path in relevant_files else scoring["elsewhere"] for path in sorted(backed)),
        "code_lines": len(seen.quotes) + 0.25 * len(seen.shown),
        "length_words": len(answer.split()),
    }
    return found, seen


def score(answer, key):
    """Return the metrics of `answer`: `reward` (0-1), each component (0-1), and what they were made from."""
    answer = plain(answer)
    if key["scoring"] == "published":
        return published(answer, key)
    return metrics(answer, key, *measure(answer, key, Index.read(key["index"])))


def metrics(answer, key, found, seen):
    """Hold what `measure` found against what is needed."""
    scoring, needed = key["scoring"], key["needed"]
    said, wanted = words(answer), set(key["words"])
    knowledge = rising(found["evidence"], scoring["half_credit"], needed["evidence"])
    if not needed["evidence"]:
        # No identifier to look up: the truth's words must do.
        knowledge = share(found["truth"], needed["truth"] / 4, needed["truth"])
    parts = standing(found, key)
    stand = math.prod(parts.values()) if needed["evidence"] else 1.0
    amounts = {
        "keyword_overlap": knowledge,
        "file_references": min(1.0, found["files"] / needed["files"]) if needed["files"] else None,
        "code_blocks": min(1.0, found["code_lines"] / needed["code_lines"]) if needed["code_lines"] else None,
        "length_score": min(1.0, found["length_words"] / needed["length_words"])
        * min(1.0, knowledge / scoring["support"]),
    }
    components = {name: amount * stand for name, amount in amounts.items() if amount is not None}
    weights = dict(scoring["weights"])
    # What the oracle cannot show cannot be asked for: the words get its weight.
    for name in [name for name in weights if name not in components]:
        weights["keyword_overlap"] += weights.pop(name)
    return {
        "reward": _reward(components, weights),
        "components": {name: round(value, 6) for name, value in components.items()},
        "weights": weights,
        "scoring": "evidence",
        "scoring_version": VERSION,
        "standing": {name: round(value, 6) for name, value in parts.items()},
        "measured": {name: round(value, 6) for name, value in found.items()},
        "placed_identifiers": {name: sorted(places) for name, places in sorted(seen.places.items()) if places},
        "other_identifiers": sorted(name for name, places in seen.places.items() if not places),
        "invented_identifiers": sorted(seen.invented),
        "quoted_lines": len(seen.quotes),
        "matched_keywords": sorted(said & wanted),
        "missed_keywords": sorted(wanted - said),
    }


def standing(found, key):
    """Return what every component is multiplied by, each 0-1: trust, wording, topic, truth, phrases."""
    scoring, needed, true = key["scoring"], key["needed"], key["truth_is_true"]
    # Words of another language cannot be compared; where the evidence lies can.
    name = "topic" if found["english"] else "relevant_share"
    on_topic = share(found[name], needed[f"{name}_floor"], needed[name])
    said = known = 1.0
    if found["english"]:
        said = min(1.0, found["phrases"] / needed["phrases"]) if needed["phrases"] else 1.0
        known = share(found["truth"], needed["truth_floor"], needed["truth"])
    return {
        "trust": share(found["trust"], scoring["trust_floor"], scoring["trust_full"]),
        "wording": min(1.0, found["natural"] / (needed["natural"] or 1))
        * min(1.0, found["own_words"] / max(1, needed["own_words"])),
        "topic": scoring["off_topic"] + (1 - scoring["off_topic"]) * on_topic,
        "truth": 1 - scoring["truth_weight"] * true * (1 - known),
        "phrases": 1 - scoring["phrase_weight"] * true * (1 - said),
    }


def _reward(components, weights):
    total = sum(weights[name] * components[name] for name in weights) / sum(weights.values())
    return round(min(1.0, max(0.0, total)), 6)


# The everyday words that the published verifier leaves out of its comparison.
_PUBLISHED = """
a above after again all an and are as at be because been before being below between but by can could dare did do does
during each few for from further had has have here how i if in into is it its just may me might more most must need no
nor not of on once only or other our own same shall should so some such than that the their them then there these they
this those through to too under until very was we were when where while why will with would you your
"""
_PUBLISHED_STOP_WORDS = frozenset(_PUBLISHED.split())


def published(answer, key):
    """Return the metrics of the published verifier's formula, for comparison with published numbers.

    0.5 F1 of words with the truth, 0.2 twice the share of context files named, 0.2 a code block (half for a code
    span), 0.1 length up to 100 words. It knows nothing of the code base.
    """

    def keywords(text):
        found = re.sub(r"[^\w\s]", "", re.sub(r"\s+", " ", text.lower())).split()
        return {word for word in found if len(word) > 2 and word not in _PUBLISHED_STOP_WORDS}

    said, wanted, files = keywords(answer), keywords(key["truth"]), key["files"]
    common, total = len(said & wanted), len(said) + len(wanted)
    named = sum(path in answer or path.rpartition("/")[2] in answer for path in files)
    has_block = re.search(r"```\w*\n[\s\S]*?```", answer)
    components = {
        "keyword_overlap": 2 * common / total if common else 0.0,
        "file_references": min(1.0, 2 * named / len(files)) if files else 1.0,
        "code_blocks": 1.0 if has_block else 0.5 if re.search(r"`[^`]+`", answer) else 0.0,
        "length_score": min(1.0, len(answer.split()) / 100),
    }
    if not answer.strip():
        components = dict.fromkeys(components, 0.0)
    return {
        "reward": _reward(components, SCORING["weights"]),
        "components": {name: round(value, 6) for name, value in components.items()},
        "weights": SCORING["weights"],
        "scoring": "published",
        "scoring_version": VERSION,
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
    result = score(answer, key)
    if problem:
        result["problem"] = problem
    write_whole(f"{root}/logs/verifier/metrics.json", result)
    write_whole(f"{root}/logs/verifier/reward.json", {"reward": result["reward"]})
    print(f"reward {result['reward']} {result['components']} {problem}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
