"""The environment variables that hold the keys of providers."""

from __future__ import annotations

# Any one of the names will do. litellm's own check is asked for providers that are not here: it takes
# seconds to import, and takes some providers' keys as present without looking (zai).
KEY_NAMES: dict[str, tuple[str, ...]] = {
    "anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
    "dashscope": ("DASHSCOPE_API_KEY",),
    "deepseek": ("DEEPSEEK_API_KEY",),
    "fireworks_ai": ("FIREWORKS_AI_API_KEY", "FIREWORKS_API_KEY"),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "groq": ("GROQ_API_KEY",),
    "mistral": ("MISTRAL_API_KEY",),
    "moonshot": ("MOONSHOT_API_KEY",),
    "novita": ("NOVITA_API_KEY",),
    "openai": ("OPENAI_API_KEY",),
    "openrouter": ("OPENROUTER_API_KEY",),
    "together_ai": ("TOGETHERAI_API_KEY", "TOGETHER_API_KEY"),
    "xai": ("XAI_API_KEY",),
    "zai": ("ZAI_API_KEY",),
}

# Servers of one's own, on this machine unless api_base says where: litellm asks for their address as if it were a key.
WITHOUT_KEY = frozenset({"ollama", "ollama_chat"})
