"""The shapes of secrets: the prefixes of services' tokens, and others."""

from __future__ import annotations

import re

_OF_LETTERS = """
    ghp_ gho_ ghu_ ghs_ ghr_ npm_ rubygems_ AKCp hf_ gsk_ r8_ xai- pplx- csk- fw_ lin_api_ lin_oauth_ ntn_ secret_ ATBB
    NRAK- NRJS- phx_ pul- sbp_ bkua_ napi_ shpat_ shpca_ shppa_ shpss_ dop_v1_ doo_v1_ dor_v1_ EZAK EZTK LTAI p8e-
    CLOJARS_ pnu_ rdme_ shippo_live_ shippo_test_ FLWPUBK- FLWSECK- FLWPUBK_TEST- FLWSECK_TEST- AGE-SECRET-KEY- dapi
    key- pubkey-
"""
_OF_SIGNS = """
    sk- whsec_ github_pat_ glpat- gldt- glrt- glcbt- glptt- glft- glsoat- glagent- gloas- glimt- glffct- glwt- GR1348941
    ABSK AIza ya29. GOCSPX- 1//0 xapp- pypi- tvly- nvapi- lsv2_pt_ lsv2_sk_ pcsk_ xkeysib- glsa_ glc_ hvs. hvb. hvr.
    dckr_pat_ dckr_oat_ sq0atp- sq0csp- sq0idp- ATATT3x sb_secret_ sntrys_ sntryu_ ops_ PMAK- fo1_ figd_ pscale_tkn_
    pscale_pw_ pscale_oauth_ CCIPAT_ HRKU- tskey-auth- tskey-api- duffel_test_ duffel_live_ dt0c01. fio-u- tfp_ pk. SG.
    dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit. EAAA _authToken=
"""
TOKENS = tuple(
    re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, begins.split()))})(?:{rest}|[A-Za-z]{{30,}})")
    for begins, rest in (
        (_OF_LETTERS, "(?=[A-Za-z]*[0-9])[A-Za-z0-9]{12,}"),
        (_OF_SIGNS, "(?=[A-Za-z_.=+/-]*[0-9])[A-Za-z0-9_.=+/-]{16,}"),
    )
)
"""Prefixes of tokens, and how they continue: with a digit among letters (and signs), or with 30 letters."""

LONG = re.compile(r"[A-Za-z0-9_.=+/-]{15,}")
"""Matches a word that could hold one of TOKENS; only such words are searched for them, not the whole text."""

OTHER_SHAPES: tuple[tuple[str, str], ...] = (
    ("k_", r"\b[srp]k_(?:live|test|prod)_[A-Za-z0-9]{10,}"),  # Stripe, also its test keys
    ("A", r"\b(?:AKIA|ASIA|AROA|AIDA|ABIA|ACCA)[A-Z0-9]{16}\b"),
    ("xox", r"\bxox[abceoprs](?:\.xox[a-z])?-[A-Za-z0-9-]{10,}"),
    ("hooks.slack.com", r"\bhooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_-]+"),
    ("webhook.office.com", r"\bwebhook\.office\.com/webhookb2/[A-Za-z0-9@/_-]+"),
    ("/api/webhooks/", r"/api/webhooks/[0-9]+/[A-Za-z0-9_-]+"),
    (".", r"\b[MNO][A-Za-z\d_-]{23,25}\.[A-Za-z\d_-]{6}\.[A-Za-z\d_-]{27,}"),  # Discord
    ("-us", r"\b[0-9a-z]{32}-us[0-9]{1,2}\b"),  # Mailchimp
    ("cio", r"\bcio[A-Za-z0-9]{32}\b"),  # Cargo
    ("oy2", r"\boy2[a-z0-9]{43}\b"),  # NuGet
    ("fc-", r"\bfc-[a-f0-9]{32}\b"),  # Firecrawl
    ("re_", r"\bre_[A-Za-z0-9]{8}_[A-Za-z0-9]{16,}\b"),  # Resend
    ("atlasv1.", r"\b[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{40,}"),  # Terraform Cloud
    (":A", r"\b\d{5,16}:A[A-Za-z0-9_-]{33,}"),  # Telegram
    ("FlyV1", r"\bFlyV1 fm\d_[A-Za-z0-9+/=,_]{20,}"),
    ("8Q~", r"[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34}"),  # Azure AD
    ("Key=", r"\b(?:AccountKey|SharedAccessKey)=[A-Za-z0-9+/=]{20,}"),  # Azure
    ("sig=", r"[?&]sig=[A-Za-z0-9%+/=]{20,}"),
    ("SK", r"\bSK[0-9a-f]{32}\b"),  # Twilio
    ("AC", r"\bAC[0-9a-f]{32}\b"),
    ("AAAAAAAA", r"\bA{22}[A-Za-z0-9%]{80,100}"),  # Twitter
    ("BUNDLE_", r"\bBUNDLE_[A-Z0-9_]+__[A-Z0-9_]+[\"']?\s*[=:]\s*[\"']?[^\s\"':]+:[^\s\"';]+"),  # Bundler
    ("lient", r"(?<=lient)_?[Ii][Dd][\"']?\s*[:=]+\s*[\"'](?:[0-9a-f]{40,}|[0-9A-Fa-f-]{36})[\"']"),
    ("X-Amz-", r"\bX-Amz-(?:Signature|Security-Token)=[A-Za-z0-9%+/=]{20,}"),
    ("eyJ", r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"),  # JSON web tokens
    (
        "PRIVATE KEY",
        r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----[\s\S]*?"
        r"(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\Z)",
    ),
    ("PuTTY-User-Key-File", r"PuTTY-User-Key-File-\d[\s\S]*?(?:Private-MAC: \w+|\Z)"),
    # https://user:password@host, or a long user alone; a reference to a variable is no password
    ("://", r"(?<=://)(?:[^\s/:@\"'<>{}]*:(?!\$\{?\w+\}?@)[^\s/@\"']+|[^\s/:@\"'<>{}$]{12,})(?=@)"),
    (
        "uthorization",
        r"\b[Aa]uthorization[\"']?\s*[:=]\s*[\"']?(?:[A-Za-z]+\s+)?(?![A-Za-z.]*[\"']?\s*$)"
        r"[A-Za-z0-9._~+/=-]{8,}(?![\w(.\[])",
    ),
    ("earer", r"\b[Bb]earer\s+(?=[A-Za-z._~+/=-]*[0-9])[A-Za-z0-9._~+/=-]{8,}"),
    ("Basic", r"\bBasic\s+(?=[A-Za-z0-9+/]*[0-9A-Z+/=])[A-Za-z0-9+/]{7,}[A-Za-z0-9+/=](?![a-z])"),
    ("ookie:", r"(?<=ookie: )[\w.-]+=[^\s\"';]{8,}(?:; ?[\w.-]+=[^\s\"';]+)*"),
    # passwords on command lines
    ("-u", r"(?<=\s-u )[\"']?(?!\d+:\d+\b)[^\s:\"'$]+:[^\s\"'$]{4,}|(?<=\s-u)[\w.@-]+:[^\s\"'$]{4,}"),
    ("--user", r"(?<=--user[ =])[\"']?[^\s:\"'$]+:[^\s\"'$]{4,}"),
    ("sshpass", r"(?<=sshpass -p)\s*[^\s$]{4,}"),
    ("mysql", r"(?m)(?<=mysql)(?:dump|admin)?\s(?:[^\n|;]*?\s)?-p(?!\s|ort)[^\s$\"']{4,}"),
    ("redis-cli", r"(?<=redis-cli)\s(?:[^\n|;]*?\s)?-a\s+[^\s$]{4,}"),
    ("docker login", r"(?<=docker login)\s(?:[^\n|;]*?\s)?-p\s+[^\s$]{4,}"),
    ("pass:", r"(?<=pass:)[^\s\"'$,;]{6,}(?=\s|\Z)"),  # openssl -passin pass:...
    # files of clients: .netrc, .pgpass
    ("machine ", r"(?<=machine )\S+\s+login\s+\S+\s+password\s+\S+"),
    (":", r"(?m)^(?:[\w.-]+|\*):(?:\d{4,5}|\*):(?:[\w-]+|\*):[A-Za-z_][\w-]*:(?!\d+$)[^\s:]{4,}$"),
)
"""A string that every secret of this shape contains, and the whole pattern."""


# Without \b: a pattern that starts with a literal is found about fifty times faster.
SHAPES = tuple(
    (needle, re.compile(shape.removeprefix(r"\b")), shape.startswith(r"\b")) for needle, shape in OTHER_SHAPES
)


def replace_shapes(text: str, placeholder: str) -> str:
    """Replace everything that has the shape of a secret with a placeholder."""

    def at_word(match: re.Match[str]) -> str:
        before = match.string[match.start() - 1 : match.start()]
        return match[0] if before.isalnum() or before == "_" else placeholder

    words = "\n".join(LONG.findall(text))
    for token in TOKENS:
        if token.search(words):
            text = token.sub(placeholder, text)
    for needle, shape, begins_word in SHAPES:
        if needle in text:
            text = shape.sub(at_word if begins_word else placeholder, text)
    return text
