"""The commands' side of the HTTP API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pipeline.errors import InstanceError, PipelineError

if TYPE_CHECKING:
    import httpx

MARGIN_S = 10.0
"""How much longer than the API we wait for its answer."""


class ApiError(PipelineError):
    """The API refused a request."""

    code = "api"


class Client:
    """The API of this process's settings, else of the instance of ``LASTRO_HOME``.

    Raises InstanceError when neither is there or nobody answers, ApiError for a refusal.
    """

    def __init__(self) -> None:
        import httpx

        from pipeline.local.instance import connect
        from pipeline.settings import settings

        chosen = settings()
        if chosen.api_url is None or chosen.api_key is None:
            chosen = connect(chosen)
        if chosen.api_url is None or chosen.api_key is None:
            raise InstanceError("No API to call: set LASTRO_API_URL and LASTRO_API_KEY.")
        self.url = chosen.api_url
        self.wait_s = chosen.ask_wait_s
        self._http = httpx.Client(
            base_url=chosen.api_url,
            headers={"X-API-Key": chosen.api_key.get_secret_value()},
            timeout=chosen.ask_wait_s + MARGIN_S,
        )

    def get(self, path: str, **query: Any) -> dict[str, Any]:
        """The JSON object at ``path``."""
        return self._read(self.send("GET", path, params=query))

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """The JSON object that the API answers ``body`` with."""
        return self._read(self.send("POST", path, json=body))

    def send(self, method: str, path: str, **arguments: Any) -> httpx.Response:
        """The response, whatever its status. Raises InstanceError when there is none."""
        import httpx

        try:
            return self._http.request(method, path, **arguments)
        except httpx.HTTPError as error:
            raise InstanceError(f"{self.url} does not answer: {error}") from error

    def _read(self, response: httpx.Response) -> dict[str, Any]:
        if response.is_error:
            try:
                problem = response.json()
            except ValueError:
                problem = {}
            reason = problem.get("detail") or problem.get("title") or response.reason_phrase
            raise ApiError(f"{self.url} answered {response.status_code}: {reason}")
        body: dict[str, Any] = response.json()
        return body
