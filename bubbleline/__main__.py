"""The command `bubbleline`, and `python -m bubbleline`: app.py's, which opens the page too when it only serves."""

from app import PROGRAM, cli


def main() -> None:
    """Be the command `bubbleline`."""
    cli(prog_name=PROGRAM)


if __name__ == "__main__":
    main()
