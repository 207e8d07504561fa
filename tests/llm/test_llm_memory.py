"""Contexts of 1.2 million tokens and reports of 402 pages, several in flight at once: below 1.5 GB."""

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
import asyncio, json, os, sys
from pathlib import Path
from deepchart_dagster.llm.budget import Limits
from deepchart_dagster.llm.client import LiteLLMClient
from deepchart_dagster.llm.model import ChatRequest, ImagePart, Message, TextPart
from deepchart_dagster.llm.registry import ModelSpec

storage, url, kind, limited = Path(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4] == "limited"
CALLS, CONCURRENCY = 12, 8

def context(number):
    # A page of a filing has numbers, words and bars: about 3.4 characters a token.
    rows = "".join(f"| Revenue {n % 97} | {n * 7919 % 99991:,} | {n * 104729 % 999983:,} |\\n" for n in range(80_000))
    return (TextPart(f"question {number}\\n" + rows),)

def report(number):
    # 402 pages, eight a chunk, at the size that chunks have.
    return tuple(ImagePart(os.urandom(900_000), "image/jpeg", 1600, 2200) for _ in range(51))

async def ask(client, model, gate, number):
    async with gate:
        parts = (context if kind == "text" else report)(number)
        request = ChatRequest(model, (Message("user", parts),), "stage1", "p")
        answer = await client.complete(request)
        return answer.text

async def main():
    model = ModelSpec(slug="local", litellm_model="openai/local-model", api_base=url, concurrency=CONCURRENCY)
    client = LiteLLMClient(storage, limits=Limits(max_tokens=10**9) if limited else None)
    gate = asyncio.Semaphore(CONCURRENCY)
    return await asyncio.gather(*(ask(client, model, gate, n) for n in range(CALLS)))

texts = asyncio.run(main())
status = Path("/proc/self/status").read_text()
(peak,) = (int(line.split()[1]) // 1024 for line in status.splitlines() if line.startswith("VmHWM"))
print(json.dumps({"answers": texts, "peak_mb": peak}))
"""


@pytest.mark.parametrize(("kind", "limited"), [("text", "free"), ("text", "limited"), ("pictures", "free")])
def test_long_inputs_stay_below_the_limit(server, replies, tmp_path, kind, limited):
    server.keep_requests = False
    server.tell(*(replies.good(delay_s=0.5) for _ in range(12)))
    command = [sys.executable, "-c", ASK, str(tmp_path), server.url, kind, limited]
    done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ), timeout=500, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["answers"] == ["fine"] * 12
    assert told["peak_mb"] < MOST_MB
