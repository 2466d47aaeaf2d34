from __future__ import annotations

import os
import subprocess
import sys

from crawlproject.frontier.redis.names import is_dead, worker_name


def test_every_worker_has_a_name_of_its_own() -> None:
    assert worker_name() != worker_name()


def test_a_worker_that_lives_is_not_dead() -> None:
    assert not is_dead(worker_name())


def test_one_of_this_machine_whose_process_is_gone_is_dead() -> None:
    code = "from crawlproject.frontier.redis.names import worker_name; print(worker_name())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert is_dead(done.stdout.strip())


def test_of_another_machine_or_container_nobody_knows() -> None:
    host, _, _, token = worker_name().rsplit("-", 3)
    assert not is_dead(f"{host}-99999999-00000000-{token}")
    assert not is_dead(f"{host}-99999999-x-{token}")


def test_what_is_no_name_of_ours_is_nobody_dead() -> None:
    for name in ("", "a", "a-b-c-d", f"a-{10**30}-{'0' * 8}-b", f"{os.getpid()}"):
        assert not is_dead(name)
