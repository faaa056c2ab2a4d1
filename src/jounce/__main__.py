"""``python -m jounce``: the command line."""

from jounce.cli import main

if __name__ == "__main__":
    main()
