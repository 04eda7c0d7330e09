"""Generates the pages of the documentation site that come from the registry, the schema, the papers and the code."""
