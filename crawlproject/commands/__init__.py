"""Commands of this project: ``scrapy crawl``, and ``why``, ``frontier``, ``skipped`` to look into
a crawl directory, with errors that fit on a line.
"""

import os

# Nobody here multiplies matrices. To start threads for it would take a tenth of a second each time.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
