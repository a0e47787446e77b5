#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs one fuzz target (built by make fuzz-bins) on the seeds in the tree and on what earlier runs found new.
#   fuzz.sh NAME [SECONDS]
# An input that breaks it is left in build-fuzz/found/; put it into test/fuzz/corpus/NAME/ with the fix.
set -euo pipefail
cd "$(dirname "$0")/../.."
name=$1 seconds=${2:-30}
build=${FUZZ_BUILD:-build-fuzz}
mkdir -p "$build/found" "$build/corpus/$name"
export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
# Every seed by itself first: what was broken once stays mended, however short the run.
"$build/fuzz/fuzz_$name" -runs=0 "test/fuzz/corpus/$name" >"$build/found/$name.log" 2>&1 || {
    tail -60 "$build/found/$name.log"
    exit 1
}
# An input that takes longer than this is a fault; a machine that does other work at the same time needs patience.
limit=$((10 * ${BATCHAID_TEST_PATIENCE:-1}))
"$build/fuzz/fuzz_$name" -max_total_time="$seconds" -timeout="$limit" -max_len=16384 -rss_limit_mb=1024 -print_final_stats=1 \
    -artifact_prefix="$build/found/$name-" "$build/corpus/$name" "test/fuzz/corpus/$name" >"$build/found/$name.log" 2>&1 || {
    tail -60 "$build/found/$name.log"
    exit 1
}
echo "fuzz $name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$build/found/$name.log") inputs in $seconds s"
