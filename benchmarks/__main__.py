"""All benchmarks, one after the other."""

from __future__ import annotations

from benchmarks import chat_rate, orchestration

if __name__ == "__main__":
    orchestration.main()
    chat_rate.main()
