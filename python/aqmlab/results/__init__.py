"""What finished runs contain: tables, metrics, summaries, and their export to other programs."""
