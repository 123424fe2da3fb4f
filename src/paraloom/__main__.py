"""`python -m paraloom`: the same as the command `paraloom`."""

from paraloom.cli.main import main

if __name__ == "__main__":
    main()
