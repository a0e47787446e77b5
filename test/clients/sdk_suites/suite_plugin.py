# SPDX-License-Identifier: MIT
"""Each test of a suite has the subscription of the fixture `batchaid`."""

import devtools_testutils
import pytest

# Whose tasks are looked at before they have begun: in the service that takes minutes.
PATIENT = ("test_batch_tasks",)


def pytest_configure(config):
    config.addinivalue_line("markers", "live_test_only(why): what is run here")


@pytest.fixture(autouse=True)
def subscription(request, batchaid):
    devtools_testutils.here["batchaid"] = batchaid
    if request.node.name in PATIENT:
        batchaid.strict()
