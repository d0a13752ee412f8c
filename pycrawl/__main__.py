"""`python -m pycrawl` is `pycrawl`."""

if __name__ == "__main__":
    from pycrawl.cli import main

    main()
