"""The laboratory as a page of the site, which runs in the browser."""

from __future__ import annotations

from html import escape

from aqmlab.errors import Error
from aqmlab.lab.page import standalone_page

URI = "try.html"
MISSING = (
    '<!DOCTYPE html>\n<html lang="en"><meta charset="utf-8">'
    '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'"><title>aqmlab laboratory</title>'
    "<p>This copy of the site was built without the laboratory: {why}.</p></html>\n"
)


def text() -> str:
    """Return the page; without the simulator for browsers, a page with the reason."""
    try:
        return standalone_page()
    except Error as error:
        return MISSING.format(why=escape(str(error)))
