"""Run code in another process: one framed channel for messages, and one launcher for code that the caller trusts."""
