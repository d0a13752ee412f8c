"""What a process of a test runs."""


def main() -> None:
    """Ends at once."""
