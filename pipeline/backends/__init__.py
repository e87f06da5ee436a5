"""One file per provider of a model or a parser, each behind a port of ``pipeline/ports.py``.

The ``factory`` beside them builds the configured one and imports no other.
"""
