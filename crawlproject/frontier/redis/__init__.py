"""The frontier that many workers share, in Redis. Its keys are in ``keys.py``.

A worker's *session* hands in what it has done, and gets *slots* at hosts, with URLs
(``session.py``, ``lua/exchange.lua``). One worker at a time is the *committer*: it turns the
answers of all into new state, by the same code as on one machine (``committer.py``).

Nothing of it is imported where ``REDIS_URL`` is not set.
"""
