"""Flower's options: a configuration file in Flower's sense, read by ``commands.flower``.

Flower without a login is open to whoever reaches it, so here it does not start without one. It
only shows: what acts on jobs is Lastro's own API, which writes to the record.
"""

from __future__ import annotations

from pipeline.errors import SettingsError
from pipeline.settings import settings as lastro_settings

_login = lastro_settings().flower_login
if _login is None:
    raise SettingsError("Flower never runs without a login: set LASTRO_FLOWER_LOGIN=name:password.")

address = lastro_settings().host
port = lastro_settings().flower_port
basic_auth = [_login.get_secret_value()]
read_only = True
