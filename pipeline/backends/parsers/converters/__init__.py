"""Converters: one file per library that turns an office file, a page or a PDF into markdown.

Each is imported, and imports its library, only when a file needs it.
"""
