"""Crawls as a service: scrapyd, with a job API, metrics and a live page.

scrapyd is the engine: its queue, its processes, its logs. What is here are parts that its
``scrapyd.conf`` names:

| module | is |
|---|---|
| ``starting`` | the service in this process, and a word to who started it |
| ``app`` | the application: a look at the options before scrapyd starts |
| ``options`` | the section [crawlproject] of scrapyd.conf |
| ``book`` | every job that was ordered, and what became of it |
| ``queue`` | scrapyd's queue, which writes into the book first, and its poller |
| ``launcher`` | starts jobs, tells how they end, goes on with those that were open |
| ``process``, ``outcome`` | a job that runs, as the service sees it; how it has ended |
| ``runner`` | … and from within: an egg comes before what is installed |
| ``job_settings``, ``layout`` | its settings, and where it has its files |
| ``site`` | the site: guard, live page (``page/``), scrapyd's services and ours |
| ``guard``, ``bounds`` | who may ask for what, and send how much |
| ``connections`` | how long a client is waited for, and how many may connect |
| ``http``, ``files`` | JSON over HTTP; files as answers |
| ``api`` | the job API; ``orders`` checks what is ordered |
| ``openapi``, ``schemas`` | its description: paths, values |
| ``view``, ``totals`` | what is said of a job, and of all that run |
| ``looking`` | what is in the crawl directories of jobs |
| ``metrics`` | for Prometheus |
| ``scrapyd_services`` | scrapyd's own services, with checks |
| ``spider_lists`` | the spiders of a project, found without blocking |

``python -m crawlproject.service`` (``./scripts/serve``) starts it.
"""

# Variables by which the service tells a job its own process id, and that options are on stdin.
SERVICE_PID = "CRAWLPROJECT_SERVICE_PID"
OPTIONS_ON_STDIN = "CRAWLPROJECT_OPTIONS_ON_STDIN"
