"""Flags of gcc for emitted code under AddressSanitizer and UBSan, or under UBSan alone.  What UBSan finds is a trap, signal 4: its texts
take a compiler as long as the code does.  With RAVEL_TRAP=0 in the environment they are there."""

import os

STOP = ["-fno-sanitize-recover=all"] if os.environ.get("RAVEL_TRAP") == "0" else ["-fsanitize-undefined-trap-on-error"]
UNDEFINED = ["-fsanitize=undefined", *STOP]
SANITIZE = ["-fsanitize=address,undefined", *STOP]
