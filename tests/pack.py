"""The content folder of a running instance, edited and ingested as an operator does."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.running import Running


@dataclass
class Pack:
    """The content folder of the instance, and the command that reads it."""

    root: Path
    instance: Running

    def write(self, path: str, text: str | bytes) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)

    def edit(self, path: str, *changes: tuple[str, str]) -> None:
        text = (self.root / path).read_text()
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        self.write(path, text)

    def ingest(self, *arguments: str, status: str = "done") -> dict[str, Any]:
        """Run `lastro ingest` and return what it tells; its exit status must agree."""
        done = self.instance.lastro("ingest", "--json", *arguments, check=False)
        assert done.stdout, done.stderr
        told: dict[str, Any] = json.loads(done.stdout)
        assert told["status"] == status, done.stdout
        assert done.returncode == (0 if status == "done" else 1)
        return told

    def search(self, question: str) -> list[dict[str, Any]]:
        with self.instance.client as client:
            response = client.get("/search", params={"q": question, "k": 20})
            assert response.status_code == 200, response.text
            results: list[dict[str, Any]] = response.json()["results"]
            return results

    def paths(self, question: str) -> set[str]:
        """The files that a search finds."""
        return {result["chunk"].rpartition("#")[0] for result in self.search(question)}
