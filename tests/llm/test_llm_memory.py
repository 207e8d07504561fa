"""Contexts of 1.2 million tokens under a budget, several in flight at once: below 1.5 GB. See generation for stages."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

MOST_MB = 1536

# VmHWM is the largest resident size that the process has had; litellm alone takes some 300 MB of it.
ASK = """
import asyncio, json, sys
from pathlib import Path
from deepchart_dagster.llm.budget import Limits
from deepchart_dagster.llm.client import LiteLLMClient
from deepchart_dagster.llm.model import ChatRequest, Message, TextPart
from deepchart_dagster.llm.registry import ModelSpec

storage, url = Path(sys.argv[1]), sys.argv[2]
CALLS, CONCURRENCY = 12, 8

def context(number):
    # A page of a filing has numbers, words and bars: about 3.4 characters a token.
    rows = "".join(f"| Revenue {n % 97} | {n * 7919 % 99991:,} | {n * 104729 % 999983:,} |\\n" for n in range(80_000))
    return (TextPart(f"question {number}\\n" + rows),)

async def ask(client, model, gate, number):
    async with gate:
        request = ChatRequest(model, (Message("user", context(number)),), "stage1", "p")
        answer = await client.complete(request)
        return answer.text

async def main():
    model = ModelSpec(slug="local", litellm_model="openai/local-model", api_base=url, concurrency=CONCURRENCY)
    client = LiteLLMClient(storage, limits=Limits(max_tokens=10**9))
    gate = asyncio.Semaphore(CONCURRENCY)
    return await asyncio.gather(*(ask(client, model, gate, n) for n in range(CALLS)))

texts = asyncio.run(main())
status = Path("/proc/self/status").read_text()
(peak,) = (int(line.split()[1]) // 1024 for line in status.splitlines() if line.startswith("VmHWM"))
print(json.dumps({"answers": texts, "peak_mb": peak}))
"""


def test_long_inputs_that_a_budget_counts_stay_below_the_limit(server, replies, tmp_path):
    server.keep_requests = False
    server.tell(*(replies.good(delay_s=0.5) for _ in range(12)))
    command = [sys.executable, "-c", ASK, str(tmp_path), server.url]
    done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ), timeout=500, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["answers"] == ["fine"] * 12
    assert told["peak_mb"] < MOST_MB
