# SPDX-License-Identifier: MIT
"""A daemon for tests, in ten lines:

    from batchaid import Cloud

    with Cloud() as cloud:
        test = cloud.subscription()
        client = test.batchai_client()
        ...

docs/testing.md of the project describes what a test can ask for. Only the standard library is needed; clients of Azure
need the packages that they come from.
"""

from .cloud import BatchaidError, Cloud, Subscription

__all__ = ["BatchaidError", "Cloud", "Subscription"]
