"""The content security policy of the site's pages: scripts and styles of the site, and no others."""

from __future__ import annotations

import re

from aqmlab.reporting.rendering import script_sources

INLINE = re.compile(r"<script(?![^>]*\bsrc=)(?![^>]*application/json)[^>]*>(.*?)</script>", re.DOTALL)
"""Scripts that the theme writes into a page."""


def with_policy(page: str) -> str:
    """Return a page with its policy, which allows the scripts that the page has now.

    >>> with_policy('<head><meta charset="utf-8"><script>1</script></head>').split("; ")[1]
    "script-src 'self' 'sha256-a4ayc/80/OGda4BO/1o/V0etpOqiLx1JwB5S3beHW0s='"
    """
    scripts = dict.fromkeys(INLINE.findall(page))
    policy = "; ".join(
        (
            "default-src 'self'",
            f"script-src 'self' {script_sources(scripts)}".rstrip(),
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data:",
            "object-src 'none'",
            "base-uri 'none'",
            "form-action 'self'",
        )
    )
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    return re.sub(r'(<meta charset="?utf-8"?>)', lambda found: found[1] + meta, page, count=1)
