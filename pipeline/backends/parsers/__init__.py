"""Parsers: from the bytes of a content file to a document of plain markdown.

``registry.for_path`` finds the one for a file's ending.
"""
