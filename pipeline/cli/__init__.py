"""The ``lastro`` command: one file per group of commands.

What a command needs is imported when it runs, so that ``--help`` costs nothing.
"""
