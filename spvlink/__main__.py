"""``python -m spvlink`` is the command ``spvlink``."""

import sys

from spvlink.cli import main

sys.exit(main())
