"""Embedders: from text to unit vectors, each adding its model's prefixes exactly once.

``factory.build`` makes the configured one and imports no other.
"""
