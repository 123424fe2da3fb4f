"""The command `paraloom`, and `python -m paraloom`."""

import signal


def main() -> None:
    """Run the command; until it handles Ctrl-C itself, that ends the process quietly, imports included."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not where it is ignored
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from paraloom.cli import main as cli

    cli.main()


if __name__ == "__main__":
    main()
