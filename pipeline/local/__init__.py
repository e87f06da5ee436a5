"""The embedded instance: its own PostgreSQL and Valkey, and the supervisor behind ``lastro up``.

Everything it keeps lies under ``LASTRO_HOME``; see ``instance.py`` for the layout.
"""
