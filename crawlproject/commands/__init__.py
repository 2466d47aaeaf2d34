"""Commands of this project: ``scrapy crawl``; ``why``, ``frontier``, ``skipped``, ``duplicates``,
``page``, ``export`` to look into a crawl, in a directory or shared; ``diff`` to compare two;
``stop`` and ``forget`` for a shared one. With errors that fit on a line.
"""

import os

# Nobody here multiplies matrices. To start threads for it would take a tenth of a second each time.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
