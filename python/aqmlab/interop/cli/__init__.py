"""Commands for other programs: crosscheck, export, import, replay."""
