"""A model client that counts what one instance takes, and says in every call which instance it is."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from pydantic import JsonValue

from deepchart_dagster.llm.model import ChatAnswer, ChatModel, ChatRequest


@dataclass
class MeteredModel:
    """Passes requests on to ``client``. One for each instance (``about``), so that counts never mix."""

    client: ChatModel
    about: str
    answers: list[ChatAnswer] = field(default_factory=list)

    async def complete(self, request: ChatRequest) -> ChatAnswer:
        answer = await self.client.complete(replace(request, about=self.about))
        self.answers.append(answer)
        return answer

    def observations(self) -> dict[str, JsonValue]:
        """Calls made now, what they cost in US dollars (None where one is unknown), answers found stored,
        and parameters that the provider was not sent because it does not know them (temperature 0, say)."""
        paid = [answer.paid_usd for answer in self.answers]
        dropped = sorted({name for answer in self.answers for name in answer.dropped_parameters})
        return {
            "calls": sum(not answer.cached for answer in self.answers),
            "cached_answers": sum(answer.cached for answer in self.answers),
            "price_usd": None if None in paid else sum(price for price in paid if price is not None),
            "dropped_parameters": list(dropped),
        }
