"""Graders: deterministic code checks, LLM judges, and the composite that weights both."""
