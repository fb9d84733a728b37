"""``python -m albert_calc``."""

from albert_calc.cli import main

if __name__ == "__main__":
    main()
