"""`python -m tests.bench NAME [options]`: each name is a module beside this one with a `main(argv)`. `--json` for machines."""

import importlib
import sys

NAMES = ("door", "steps", "pause", "resume", "approve", "recovery", "parked")


def main() -> int:
    """Run the benchmark that the first argument names; 2 if there is none of that name."""
    if len(sys.argv) < 2 or sys.argv[1] not in NAMES:
        print(f"which one? python -m tests.bench {'|'.join(NAMES)} [--help]", file=sys.stderr)
        return 2
    importlib.import_module(f"tests.bench.{sys.argv[1]}").main(sys.argv[2:])
    return 0


if __name__ == "__main__":
    sys.exit(main())
