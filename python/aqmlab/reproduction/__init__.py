"""Reproductions of the five papers: published beside measured, and a verdict on every claim."""
