"""The frontier that many workers share, in Redis. Its keys are in ``keys.py``.

A worker's *session* hands in what it has done, and gets *slots* at hosts, with URLs
(``session.py``, ``lua/exchange.lua``). One worker at a time is the *committer*: it turns the
answers of all into new state, by the same code as on one machine (``committer.py``).

Where things are, from the outside in:

- to Redis: ``address``, ``connection``, ``facts``, ``trouble``, ``patience``, ``scripts``
  (``lua/``), ``binary`` (a server of our own)
- a worker: ``opening``, ``names``, ``frontier`` (the contract), ``orders`` (what it wants done to
  the whole crawl), ``desk`` (what it has), ``pump`` (asks in the background), ``session``, ``wire``
  and ``messages`` (what is said), ``ending``
- the committer: ``duty``, ``committer``, ``store`` with ``shelf``, ``blocks``, ``index`` (entries),
  ``pages``, ``things`` (other items), ``logbook`` (visits), ``waiting``, ``offers``, and ``batch``,
  by which all of it is written as one
- seeds from outside: ``feeding``, ``fed``, ``seeding``
- scrapy-redis: its settings in ``compatibility``, its spiders in ``popping``
- reading: ``mirror`` (the crawl as a ``crawl.db``), ``copies``, ``around``, ``far``
- who looks on: ``crawls``, ``shared``, ``fleet``, ``forgetting``
- what is not ours: ``aside``, ``tidying``

Nothing of it is imported where ``REDIS_URL`` is not set.
"""
