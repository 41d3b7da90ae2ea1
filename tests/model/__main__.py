"""`python -m tests.model [--deeper] [SHAPE…]`: walk, and print what was seen. Exit 1 if a promise does not hold."""

import asyncio
import logging
import sys

import structlog

from tests.model.shapes import deeper, usual
from tests.model.walk import Walk
from tests.model.world import World


async def main(*words: str) -> int:
    """Walk every shape that is named, or all of them."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    names = [word for word in words if not word.startswith("-")]
    shapes = deeper() if "--deeper" in words else usual()
    worst = 0
    for shape in shapes:
        if names and shape.name not in names:
            continue
        world = World()
        try:
            report = await Walk(world, shape).run()
        finally:
            world.close()
        print(report.line(), flush=True)
        if report.broken:
            worst = 1
            print(report.traces(), flush=True)
    return worst


if __name__ == "__main__":
    sys.exit(asyncio.run(main(*sys.argv[1:])))
