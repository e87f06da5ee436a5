"""``POST /chat`` at a steady rate against a whole instance that answers meanwhile.

The reference is ``GET /livez`` of the same API under the same rate, which does nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from pathlib import Path

import httpx

from tests.running import running


async def fire(client: httpx.AsyncClient, rate: int, seconds: int, path: str) -> list[float]:
    """Milliseconds per request, sent on the beat whether or not the one before has come back."""
    took: list[float] = []
    errors: list[str] = []

    async def one(number: int) -> None:
        started = time.perf_counter()
        try:
            if path == "/chat":
                body = {"session_id": f"bench-{number % 97}", "message": "meus pontos não caíram"}
                response = await client.post(path, json=body)
            else:
                response = await client.get(path)
            if response.status_code >= 400:
                errors.append(f"{response.status_code} {response.text}")
        except httpx.HTTPError as error:
            errors.append(repr(error))
        took.append((time.perf_counter() - started) * 1000)

    begun = time.perf_counter()
    tasks = []
    for number in range(rate * seconds):
        await asyncio.sleep(max(0.0, begun + number / rate - time.perf_counter()))
        tasks.append(asyncio.create_task(one(number)))
    await asyncio.gather(*tasks)
    print(f"{path}: {len(took)} requests, {len(errors)} errors {errors[:1]}")
    return took


async def measure(url: str, key: str, rate: int, seconds: int) -> None:
    """Reference, then the call."""
    limits = httpx.Limits(max_connections=100, max_keepalive_connections=100)
    async with httpx.AsyncClient(
        base_url=url, headers={"X-API-Key": key}, timeout=30, limits=limits
    ) as client:
        p99 = {}
        for path, length in (("/livez", 5), ("/chat", seconds)):
            took = await fire(client, rate, length, path)
            cuts = statistics.quantiles(took, n=100, method="inclusive")
            p99[path] = cuts[98]
            print(f"{path}: p50 {cuts[49]:.1f} ms, p95 {cuts[94]:.1f} ms, p99 {cuts[98]:.1f} ms")
        print(f"p99 of POST /chat over GET /livez: {p99['/chat'] / p99['/livez']:.1f}")


def main() -> None:
    """Start an instance, measure, stop it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rate", type=int, default=50, help="requests per second")
    parser.add_argument("--seconds", type=int, default=30)
    chosen = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="lastro-bench-") as home,
        running(Path(home), Path("content").resolve(), {}) as instance,
    ):
        told = instance.told()
        key = (instance.home / "api-key").read_text().strip()
        asyncio.run(measure(told["api_url"], key, chosen.rate, chosen.seconds))


if __name__ == "__main__":
    main()
