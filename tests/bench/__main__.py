"""`python -m tests.bench NAME [options]`: each module beside this one is a benchmark with a `main(argv)`."""

import importlib
import pkgutil
import sys

import tests.bench


def main() -> int:
    """Run the benchmark that the first argument names; 2 if there is none of that name."""
    names = sorted(module.name for module in pkgutil.iter_modules(tests.bench.__path__) if not module.name.startswith("_"))
    if len(sys.argv) < 2 or sys.argv[1] not in names:
        print(f"which one? python -m tests.bench {'|'.join(names)} [--help]", file=sys.stderr)
        return 2
    importlib.import_module(f"tests.bench.{sys.argv[1]}").main(sys.argv[2:])
    return 0


if __name__ == "__main__":
    sys.exit(main())
