"""Generators: one file per provider, chosen by ``factory.build``.

Each turns a prompt into text; what the text may claim is checked by the caller.
"""
