"""How do secrets look wherever they stand? The patterns of detect-secrets, and of what it does not know."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable
from typing import cast

from detect_secrets.plugins.aws import AWSKeyDetector
from detect_secrets.plugins.azure_storage_key import AzureStorageKeyDetector
from detect_secrets.plugins.base import RegexBasedDetector
from detect_secrets.plugins.discord import DiscordBotTokenDetector
from detect_secrets.plugins.github_token import GitHubTokenDetector
from detect_secrets.plugins.gitlab_token import GitLabTokenDetector
from detect_secrets.plugins.mailchimp import MailchimpDetector
from detect_secrets.plugins.npm import NpmDetector
from detect_secrets.plugins.openai import OpenAIDetector
from detect_secrets.plugins.pypi_token import PypiTokenDetector
from detect_secrets.plugins.sendgrid import SendGridDetector
from detect_secrets.plugins.slack import SlackDetector
from detect_secrets.plugins.square_oauth import SquareOAuthDetector
from detect_secrets.plugins.stripe import StripeDetector
from detect_secrets.plugins.telegram_token import TelegramBotTokenDetector
from detect_secrets.plugins.twilio import TwilioKeyDetector

logging.captureWarnings(False)  # detect-secrets sends every warning of this process to a log that nobody reads

DETECTORS: tuple[tuple[type[RegexBasedDetector], str], ...] = (
    (AWSKeyDetector, "A"),
    (AzureStorageKeyDetector, "AccountKey="),
    (DiscordBotTokenDetector, "."),
    (GitHubTokenDetector, "gh"),
    (GitLabTokenDetector, "gl"),
    (MailchimpDetector, "-us"),
    (NpmDetector, "_authToken"),
    (OpenAIDetector, "T3BlbkFJ"),
    (PypiTokenDetector, "pypi-"),
    (SendGridDetector, "SG."),
    (SlackDetector, "slack"),
    (SquareOAuthDetector, "sq0csp-"),
    (StripeDetector, "k_live_"),
    (TelegramBotTokenDetector, ":"),
    (TwilioKeyDetector, ""),
)
"""Detectors whose patterns are specific to one service, and what a text must contain to be searched."""

OWN_SHAPES: tuple[tuple[str, str], ...] = (
    ("sk-", r"\bsk-[A-Za-z0-9_-]{16,}"),  # Anthropic, and what else begins like OpenAI's
    ("k_", r"\b[srp]k_(?:live|test|prod)_[A-Za-z0-9]{10,}"),  # Stripe, also its test keys
    ("whsec_", r"\bwhsec_[A-Za-z0-9+/=]{16,}"),
    ("gh", r"\bgh[pousr]_[A-Za-z0-9]{20,}"),
    ("github_pat_", r"\bgithub_pat_[A-Za-z0-9_]{20,}"),
    ("gl", r"\bgl(?:pat|dt|rt|cbt|ptt|ft|soat|agent|oas|imt|ffct|wt)-[A-Za-z0-9_.-]{16,}"),
    ("A", r"\b(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{16}\b"),
    ("ABSK", r"\bABSK[A-Za-z0-9+/=]{40,}"),  # Bedrock
    ("AIza", r"\bAIza[A-Za-z0-9_-]{30,}"),
    ("ya29.", r"\bya29\.[A-Za-z0-9._-]{20,}"),
    ("GOCSPX-", r"\bGOCSPX-[A-Za-z0-9_-]{20,}"),
    ("1//0", r"\b1//0[A-Za-z0-9_-]{40,}"),
    ("xox", r"\bxox[abceoprs](?:\.xox[a-z])?-[A-Za-z0-9-]{10,}"),
    ("xapp-", r"\bxapp-[A-Za-z0-9-]{10,}"),
    ("hooks.slack.com", r"\bhooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_-]+"),
    ("webhook.office.com", r"\bwebhook\.office\.com/webhookb2/[A-Za-z0-9@/_-]+"),
    ("/api/webhooks/", r"/api/webhooks/[0-9]+/[A-Za-z0-9_-]+"),
    ("npm_", r"\bnpm_[A-Za-z0-9]{20,}"),
    ("pypi-", r"\bpypi-[A-Za-z0-9_-]{24,}"),
    ("rubygems_", r"\brubygems_[a-f0-9]{40,}"),
    ("cio", r"\bcio[A-Za-z0-9]{32}\b"),  # Cargo
    ("oy2", r"\boy2[a-z0-9]{43}\b"),  # NuGet
    ("AKCp", r"\bAKCp[A-Za-z0-9]{20,}"),  # Artifactory
    ("hf_", r"\bhf_[A-Za-z0-9]{20,}"),
    ("gsk_", r"\bgsk_[A-Za-z0-9]{20,}"),
    ("r8_", r"\br8_[A-Za-z0-9]{20,}"),
    ("xai-", r"\bxai-[A-Za-z0-9]{20,}"),
    ("pplx-", r"\bpplx-[A-Za-z0-9]{20,}"),
    ("tvly-", r"\btvly-[A-Za-z0-9-]{16,}"),
    ("nvapi-", r"\bnvapi-[A-Za-z0-9_-]{20,}"),
    ("fc-", r"\bfc-[a-f0-9]{32}\b"),  # Firecrawl
    ("lsv2_", r"\blsv2_(?:pt|sk)_[A-Za-z0-9_]{20,}"),  # LangSmith
    ("pcsk_", r"\bpcsk_[A-Za-z0-9_]{20,}"),  # Pinecone
    ("csk-", r"\bcsk-[a-z0-9]{20,}"),  # Cerebras
    ("fw_", r"\bfw_[A-Za-z0-9]{20,}\b"),  # Fireworks
    ("key-", r"\bkey-[0-9a-f]{32}\b"),  # Mailgun
    ("xkeysib-", r"\bxkeysib-[a-f0-9]{40,}(?:-[A-Za-z0-9]+)?"),
    ("re_", r"\bre_[A-Za-z0-9]{8}_[A-Za-z0-9]{16,}\b"),  # Resend
    ("_v1_", r"\bdo[opr]_v1_[a-f0-9]{40,}"),  # DigitalOcean
    ("lin_", r"\blin_(?:api|oauth)_[A-Za-z0-9]{20,}"),
    ("secret_", r"\bsecret_(?=[A-Za-z]*[0-9])[A-Za-z0-9]{30,}"),  # Notion
    ("ntn_", r"\bntn_[A-Za-z0-9]{30,}"),
    ("dapi", r"\bdapi[a-f0-9]{32}(?:-\d)?\b"),  # Databricks
    ("gl", r"\bgl(?:sa|c)_[A-Za-z0-9_=]{20,}"),  # Grafana
    ("hv", r"\bhv[sbr]\.[A-Za-z0-9_-]{20,}"),  # Vault
    ("atlasv1.", r"\b[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{40,}"),  # Terraform Cloud
    ("dckr_", r"\bdckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}"),
    ("shp", r"\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),  # Shopify
    ("sq0", r"\bsq0[a-z]{3}-[A-Za-z0-9_-]{22,}"),  # Square
    (":AA", r"\b\d{8,10}:AA[A-Za-z0-9_-]{32,}"),  # Telegram
    ("ATATT3x", r"\bATATT3x[A-Za-z0-9_=-]{20,}"),  # Atlassian
    ("ATBB", r"\bATBB[A-Za-z0-9]{24,}"),  # Bitbucket
    ("sbp_", r"\bsbp_[a-f0-9]{40}\b"),  # Supabase
    ("sb_secret_", r"\bsb_secret_[A-Za-z0-9_-]{20,}"),
    ("NRAK-", r"\bNRAK-[A-Z0-9]{27}\b"),  # New Relic
    ("sntry", r"\bsntry[su]_[A-Za-z0-9+/=_-]{20,}"),  # Sentry
    ("ops_", r"\bops_eyJ[A-Za-z0-9+/=_-]{20,}"),  # 1Password
    ("AGE-SECRET-KEY-", r"\bAGE-SECRET-KEY-1[A-Z0-9]{50,}"),
    ("PMAK-", r"\bPMAK-[a-f0-9]{24}-[a-f0-9]{34}\b"),  # Postman
    ("phx_", r"\bphx_[A-Za-z0-9]{30,}"),  # PostHog
    ("FlyV1", r"\bFlyV1 fm\d_[A-Za-z0-9+/=,_]{20,}"),
    ("fo1_", r"\bfo1_[A-Za-z0-9_-]{40,}"),
    ("pul-", r"\bpul-[a-f0-9]{40}\b"),  # Pulumi
    ("dp.", r"\bdp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9._-]{30,}"),  # Doppler
    ("EAAA", r"\bEAAA[A-Za-z0-9_-]{50,}"),
    ("figd_", r"\bfigd_[A-Za-z0-9_-]{30,}"),
    ("pscale_", r"\bpscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{30,}"),
    ("napi_", r"\bnapi_[a-z0-9]{40,}"),  # Neon
    ("bkua_", r"\bbkua_[a-f0-9]{40}\b"),  # Buildkite
    ("CCIPAT_", r"\bCCIPAT_[A-Za-z0-9_]{30,}"),
    ("HRKU-", r"\bHRKU-[A-Za-z0-9_-]{30,}"),  # Heroku
    ("tskey-", r"\btskey-[a-z]+-[A-Za-z0-9-]{16,}"),
    ("8Q~", r"[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34}"),  # Azure AD
    ("Key=", r"\b(?:AccountKey|SharedAccessKey)=[A-Za-z0-9+/=]{20,}"),  # Azure
    ("sig=", r"[?&]sig=[A-Za-z0-9%+/=]{20,}"),
    ("EZ", r"\bEZ[AT]K[A-Za-z0-9]{50,}"),  # EasyPost
    ("LTAI", r"\bLTAI[A-Za-z0-9]{16,24}\b"),  # Alibaba
    ("p8e-", r"\bp8e-[A-Za-z0-9]{32}\b"),  # Adobe
    ("CLOJARS_", r"\bCLOJARS_[A-Za-z0-9]{50,}"),
    ("duffel_", r"\bduffel_(?:test|live)_[A-Za-z0-9_=-]{40,}"),
    ("dt0c01.", r"\bdt0c01\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{60,}"),  # Dynatrace
    ("FLW", r"\bFLW(?:PUB|SEC)K(?:_TEST)?-[A-Za-z0-9]{12,}(?:-X)?"),  # Flutterwave
    ("fio-u-", r"\bfio-u-[A-Za-z0-9_=-]{60,}"),  # Frame.io
    ("GR1348941", r"\bGR1348941[A-Za-z0-9_-]{20}"),  # GitLab's runners
    ("pnu_", r"\bpnu_[A-Za-z0-9]{36}\b"),  # Prefect
    ("rdme_", r"\brdme_[A-Za-z0-9]{60,}"),  # ReadMe
    ("shippo_", r"\bshippo_(?:live|test)_[a-f0-9]{40}\b"),
    ("tfp_", r"\btfp_[A-Za-z0-9_.=-]{50,}"),  # Typeform
    ("pk.", r"\bpk\.[A-Za-z0-9]{60}\.[A-Za-z0-9]{22}"),  # Mapbox
    ("NRJS-", r"\bNRJS-[a-f0-9]{19}\b"),
    ("SK", r"\bSK[0-9a-f]{32}\b"),  # Twilio
    ("AAAAAAAA", r"\bA{22}[A-Za-z0-9%]{80,100}"),  # Twitter
    ("sq0", r"\bsq0[a-z]{3}-[^\s\"']{22,}"),
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
"""How secrets look that detect-secrets lacks: a text that any such secret contains, and the whole shape."""


def _shapes() -> tuple[tuple[str, re.Pattern[str], bool], ...]:
    r"""What a text must contain, the pattern, and whether it begins a word; that is checked apart.

    A pattern that begins with its letters and not with \\b is searched for some fifty times as fast.
    """
    own = [(needle, re.compile(shape.removeprefix(r"\b")), shape.startswith(r"\b")) for needle, shape in OWN_SHAPES]
    theirs = [(needle, pattern, False) for detector, needle in DETECTORS for pattern in _patterns(detector)]
    return (*own, *theirs)


def _patterns(detector: type[RegexBasedDetector]) -> Iterable[re.Pattern[str]]:
    return cast(Iterable[re.Pattern[str]], detector.denylist)


SHAPES = _shapes()


def replace_shapes(text: str, placeholder: str) -> str:
    """The text with a placeholder for everything that has the shape of a secret."""

    def at_word(match: re.Match[str]) -> str:
        before = match.string[match.start() - 1 : match.start()]
        return match[0] if before.isalnum() or before == "_" else placeholder

    for needle, shape, begins_word in SHAPES:
        if needle in text:
            text = shape.sub(at_word if begins_word else placeholder, text)
    return text
