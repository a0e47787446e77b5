# SPDX-License-Identifier: MIT
"""What every refusal must look like: the service's error shape, a code, the property and the value at
fault."""

INVALID, MISSING = "InvalidParameter", "MissingRequiredProperty"
QUOTA = "QuotaExceeded"  # more nodes than there can ever be: not malformed, so a 409
P = "properties."
MANUAL = P + "scaleSettings.manual."


def refused(reply, status, codes, target=None, words=()):
    codes = (codes,) if isinstance(codes, str) else codes
    assert reply.status == status, reply
    error = reply.error
    assert error["code"] in codes, error
    if target is not None:
        assert error.get("target") == target, error
    for word in words:
        assert str(word) in error["message"], f"{word!r} is not in {error['message']!r}"
    return error
