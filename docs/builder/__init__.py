"""Makes those pages of the documentation site that nobody writes: of the registry, the schema, the papers, the code."""
