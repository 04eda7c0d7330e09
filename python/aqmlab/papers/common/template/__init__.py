"""Beginning of a paper, which ``aqmlab reproduce FOLDER --new`` copies; this file alone stays here."""
