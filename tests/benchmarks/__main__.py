"""`python -m tests.benchmarks [NAME ...]`: run the named benchmarks, or all of them."""

import argparse

from tests.benchmarks import browser, empty_caches, estimates, keys, picture, responses, routes, startup, training

BENCHMARKS = {
    "startup": startup.run,
    "routes": routes.run,
    "picture": picture.run,
    "estimates": estimates.run,
    "keys": keys.run,
    "browser": browser.run,
    "cold": browser.cold,
    "responses": responses.run,
    "training": training.run,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(BENCHMARKS)}; all when none is given")
    options = parser.parse_args()
    unknown = set(options.names) - set(BENCHMARKS)
    if unknown:
        parser.error(f"no benchmark is called {', '.join(sorted(unknown))}; there are {', '.join(BENCHMARKS)}")
    for name in options.names or BENCHMARKS:
        empty_caches()
        for comparison in BENCHMARKS[name]():
            print(comparison, flush=True)


if __name__ == "__main__":
    main()
