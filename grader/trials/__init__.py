"""Submissions on trial: is it right, what does it cost, and what is that worth; one module a kind of cost."""
