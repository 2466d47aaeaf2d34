"""A small site to crawl without leaving the machine: the Thistlemere Botanic Garden.

``site.py`` says what each path answers, ``server.py`` serves it,
``python -m crawlproject.demo`` is both for a terminal.
"""
