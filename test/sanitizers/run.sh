#!/usr/bin/env bash
# The engine's tests on an addon built with AddressSanitizer and UndefinedBehaviorSanitizer, and the threads of a batch
# under ThreadSanitizer. A finding ends the process, so it fails the run. Needs GCC or Clang, and Linux.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD
out=$root/build-sanitize
cxx=${CXX:-g++}

if [[ $(uname -s) != Linux ]]; then
  echo "sanitizers: skipped, they are run on Linux only"
  exit 0
fi

echo "== ThreadSanitizer: batches of every kernel on several threads"
mkdir -p "$out"
"$cxx" -std=c++17 -O1 -g -ffp-contract=off -fsanitize=thread -fno-sanitize-recover=all -Wno-stringop-overflow -pthread -I native \
  test/sanitizers/threads.cc native/batch.cc native/tables.cc native/neutral.cc native/thread_pool.cc native/kernel_portable.cc \
  native/kernel_scalar.cc -o "$out/threads"
TSAN_OPTIONS=halt_on_error=1 "$out/threads"

echo "== Building the addon with AddressSanitizer and UndefinedBehaviorSanitizer"
# Out of the way of build/: the same sources, seen from another folder.
for name in binding.gyp package.json native; do ln -sfn "$root/$name" "$out/$name"; done
(
  cd "$out"
  export CXX=$cxx
  # A kernel is a few functions of some ten thousand checks each: as calls they compile in seconds, inline in minutes.
  export CXXFLAGS="-O1 -g1"
  if ! "$cxx" --version | grep -q clang; then CXXFLAGS+=" --param asan-instrumentation-with-call-threshold=0"; fi
  npx --no -- node-gyp configure --loglevel=error -- -Dsanitize=address,undefined
  npx --no -- node-gyp build --loglevel=error --jobs max
)

echo "== The engine's tests on it"
# Node itself is not instrumented, so the runtimes must come first. Leaks are not looked for: a process that ends with
# its heap is how Node works, and every run would report it.
library() { realpath "$("$cxx" -print-file-name="$1")"; }
export RHYTHM_ADDON="$out/build/Release/rhythm.node"
for symbol in __asan_init __ubsan_handle; do
  grep -q "$symbol" "$RHYTHM_ADDON" || { echo "sanitizers: $RHYTHM_ADDON has no $symbol: not instrumented" >&2; exit 1; }
done
export RHYTHM_REQUIRE=native RHYTHM_SKIP=webgpu
export ASAN_OPTIONS=detect_leaks=0:abort_on_error=1:strict_string_checks=1:allocator_may_return_null=1
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
LD_PRELOAD="$(library libasan.so):$(library libubsan.so):$(library libstdc++.so.6)" \
  node node_modules/vitest/vitest.mjs run --pool=forks --maxWorkers=1 \
  test/addon-fuzz.test.ts test/one-step.test.ts test/rollout.test.ts test/metamorphic.test.ts \
  test/batch-masks.test.ts test/gather.test.ts test/save-load.test.ts test/changed-world.test.ts \
  test/weird-input.test.ts test/golden.test.ts test/shown.test.ts test/lifecycle.test.ts \
  test/bad-arguments.test.ts test/state-machine.test.ts test/autoreset-stories.test.ts \
  "$@"
