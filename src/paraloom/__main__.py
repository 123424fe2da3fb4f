"""The command `paraloom`, and `python -m paraloom`."""

import signal
import threading

from paraloom.core.lazy import load_object


def main() -> None:
    """Run the command; until it handles Ctrl-C itself, that ends the process quietly, imports included."""
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler or threading.current_thread() is not threading.main_thread():
        return load_object("paraloom.cli.main:main")()  # Ctrl-C is ignored, or somebody else's
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        load_object("paraloom.cli.main:main")()
    finally:
        signal.signal(signal.SIGINT, before)


if __name__ == "__main__":
    main()
