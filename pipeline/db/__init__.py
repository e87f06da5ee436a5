"""The record: tables, migrations, and one file per kind of row.

Functions take a connection and never commit; ``engine.transaction`` at the edge does.
"""
