# SPDX-License-Identifier: MIT
"""The CRC64 of the storage service, reckoned as it is defined."""

import base64

POLYNOMIAL = 0x9A6C9329AC4BC9B5
ALL = (1 << 64) - 1


def of_byte(crc):
    for _ in range(8):
        crc = crc >> 1 ^ POLYNOMIAL if crc & 1 else crc >> 1
    return crc


OF_BYTES = [of_byte(byte) for byte in range(256)]


def crc64(data):
    """As headers have it: base64, the lowest byte first."""
    crc = ALL
    for byte in data:
        crc = crc >> 8 ^ OF_BYTES[(crc ^ byte) & 255]
    return base64.b64encode((crc ^ ALL).to_bytes(8, "little")).decode()
