"""`python -m pycrawl` is `pycrawl`."""

if __name__ == "__main__":  # a spawned fetcher imports this module under another name, and needs no command line
    from pycrawl.cli import main

    main()
