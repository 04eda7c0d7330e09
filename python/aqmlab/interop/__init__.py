"""Other programs: ns-2, ns-3, Linux tc and router configurations; export, import and crosscheck."""
