"""Names that try to leave the comment, string or word that holds them."""

from __future__ import annotations

import random

ATTACKS = (
    '*/ static void __attribute__((constructor)) e(void) { puts("HIT"); } /*',
    "/* open",
    "**/*",
    "??/",
    "a\\",
    '"; system("HIT"); "',
    "$(touch HIT)",
    "`touch HIT`",
    "'; touch HIT; '",
    "[exec touch HIT]",
    "} ; exec touch HIT ; {",
    "$HOME ${HOME} $(HOME) %s %n",
    "#include <HIT>",
    "//",
    "@KIND@ @MODULE@",
    "![x](HIT) <script>HIT</script> | ` `",
    "\u202eHIT\u202c \u2066x\u2069",
    "naïve ☃ \U0001f600",
    "-rf /",
    "a b\tc",
)
CONTROL = (
    "a\nputs HIT\n",
    "a\n*/ int HIT; /*\n",
    "a\r\necho HIT\r\n",
    "a\x00b",
    "a\\\nb",
    "x" * 100_000,
    "\x1b[31m\x7f\x85\u2028HIT",
    "a\x0becho HIT\x0c#define HIT",
)
"""Names that only descriptions and files may have."""
PIECES = (*"\"'`$()[]{};|&<>#%@!*?~^=+-/\\,.: ", "??/", "*/", "/*", "//", "HIT", "é", "☃", "\u200b", "end_of", "\\\\")


def hostile_names(number: int, seed: int = 1, *, control: bool = False) -> list[str]:
    """Return names: the attacks above, then random ones made of special characters; with `control` those too."""
    draw = random.Random(seed)
    made = [*ATTACKS, *CONTROL] if control else [name.replace("\t", " ") for name in ATTACKS]
    pieces = [*PIECES, "\n", "\r", "\\\n", "\0", "\u2028", "\x85"] if control else PIECES
    while len(made) < number:
        name = "".join(draw.choice(pieces) for _ in range(draw.randint(1, 24))).strip()
        made += [name] if name else []
    return made[:number]
