# SPDX-License-Identifier: MIT
"""What test/run_checks.py is made of: job.py (one command and how its results are read), runner.py
(runs jobs side by side), stages.py (which jobs there are), recorder.py (a plugin of pytest)."""
