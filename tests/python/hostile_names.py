"""Names that try to leave the comment, string or word that holds them."""

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
PIECES = (*"\"'`$()[]{};|&<>#%@!*?~^=+-/\\,.: ", "??/", "*/", "/*", "//", "HIT", "é", "☃", "\u200b", "end_of", "\\\\")


def hostile_names(number, seed=1):
    """Return names: the attacks above, then random ones made of special characters; none has a control character."""
    draw = random.Random(seed)
    made = [name.replace("\t", " ") for name in ATTACKS]
    while len(made) < number:
        name = "".join(draw.choice(PIECES) for _ in range(draw.randint(1, 24))).strip()
        made += [name] if name else []
    return made[:number]
