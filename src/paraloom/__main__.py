"""The command `paraloom`, and `python -m paraloom`."""

import signal

from paraloom.core.lazy import load_object


def main() -> None:
    """Run the command; until it handles Ctrl-C itself, that ends the process quietly, imports included."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not where it is ignored
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    load_object("paraloom.cli.main:main")()


if __name__ == "__main__":
    main()
