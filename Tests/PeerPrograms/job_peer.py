"""Queues of jobs from PyPI, for Tests/job-peers: puts empty jobs in, and has processes do them.

    job_peer.py huey FILE COUNT PROCESSES            SqliteHuey, synchronous=FULL
    job_peer.py procrastinate ADDRESS COUNT PROCESSES
    job_peer.py work-huey FILE                       one process of the above
    job_peer.py work-procrastinate ADDRESS CONCURRENCY

Prints how many jobs were put in and done in a second, one transaction each.
"""

import asyncio
import subprocess
import sys
import time


def open_huey(path):
    from huey import SqliteHuey

    # Results aren't stored; commits are synced, as Larder's.
    huey = SqliteHuey("default", filename=path, fsync=True, results=False, timeout=60)

    @huey.task()
    def empty(number):
        pass

    return huey, empty


def open_procrastinate(address):
    import procrastinate

    app = procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=address))

    @app.task(name="empty")
    async def empty(number):
        pass

    return app, empty


def workers(count, *words):
    return [subprocess.Popen([sys.executable, __file__, *words]) for _ in range(count)]


def report(count, put, done):
    print(f"{count / put:.0f} {count / done:.0f}")


def measure_huey(path, count, processes):
    huey, empty = open_huey(path)
    start = time.monotonic()
    for number in range(count):
        empty(number)
    put = time.monotonic() - start
    start = time.monotonic()
    children = workers(processes, "work-huey", path)
    while huey.pending_count() > 0:
        time.sleep(0.005)
    report(count, put, time.monotonic() - start)
    for child in children:
        child.kill()


def work_huey(path):
    huey, _ = open_huey(path)
    # The consumer's own loop, without its process: one worker that waits for 1 ms when idle.
    from huey.consumer import Consumer

    Consumer(huey, workers=1, periodic=False, initial_delay=0.001, max_delay=0.01).run()


async def measure_procrastinate(address, count, processes):
    app, empty = open_procrastinate(address)
    async with app.open_async():
        await app.schema_manager.apply_schema_async()
        start = time.monotonic()
        for number in range(count):
            await empty.defer_async(number=number)
        put = time.monotonic() - start
        start = time.monotonic()
        children = workers(processes, "work-procrastinate", address, "64")
        while True:
            found = await app.connector.execute_query_one_async(
                "SELECT EXISTS (SELECT FROM procrastinate_jobs WHERE status IN ('todo', 'doing')) AS left"
            )
            if not found["left"]:
                break
            await asyncio.sleep(0.02)
        report(count, put, time.monotonic() - start)
        for child in children:
            child.kill()


async def work_procrastinate(address, concurrency):
    app, _ = open_procrastinate(address)
    async with app.open_async():
        await app.run_worker_async(
            concurrency=concurrency, delete_jobs="always", install_signal_handlers=False
        )


if __name__ == "__main__":
    what, where, *rest = sys.argv[1:]
    if what == "huey":
        measure_huey(where, *map(int, rest))
    elif what == "work-huey":
        work_huey(where)
    elif what == "procrastinate":
        asyncio.run(measure_procrastinate(where, *map(int, rest)))
    else:
        asyncio.run(work_procrastinate(where, int(rest[0])))
