# SPDX-License-Identifier: MIT
"""Runs a sample as it is, but that it does not sleep: a minute, where the service needs it to purge a secret."""

import asyncio
import runpy
import sys
import time

turn = asyncio.sleep


def no_sleep(seconds, *result):
    return turn(0, *result)


time.sleep = lambda seconds: None
asyncio.sleep = no_sleep
runpy.run_path(sys.argv[1], run_name="__main__")
