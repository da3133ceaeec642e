"""`python -m monet`: the program that came with the package."""

import os
import sys
import sysconfig

from monet.errors import Error


def main() -> None:
    for folder in (os.path.dirname(sys.executable), sysconfig.get_path("scripts")):
        program = os.path.join(folder, "monet")
        if os.path.exists(program):
            os.execv(program, [program, *sys.argv[1:]])
    raise Error("the program is not beside this Python", advice="a wheel has it; `make install` installs it elsewhere")


if __name__ == "__main__":
    main()
