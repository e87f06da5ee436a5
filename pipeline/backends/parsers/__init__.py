"""Parsers: from the bytes of a content file to a document of plain markdown.

``registry.configured(settings).for_path`` finds the one for a file's ending.
"""
