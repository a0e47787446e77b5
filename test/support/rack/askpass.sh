#!/bin/sh
# SPDX-License-Identifier: MIT
printf '%s\n' "$PASSWORD"
