"""`python -m pycrawl` is `pycrawl`."""

from pycrawl.cli import main

if __name__ == "__main__":
    main()
