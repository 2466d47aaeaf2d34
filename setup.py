"""For scrapyd-deploy, which builds an egg with it. All there is to know is in pyproject.toml."""

from setuptools import setup

setup()
