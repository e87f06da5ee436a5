"""Alembic's migrations, shipped with the package so that an installed Lastro can migrate.

``env.py`` is Alembic's entry; ``versions/`` holds one file per step.
"""
