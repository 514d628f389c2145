#!/usr/bin/env bash
# Tests the addon, in this order: the shipped kernels on arrays at the ends of pages, symbols that two
# kernels define, failing allocations, how often steps read all states, threads under ThreadSanitizer, and tests of the engine on an addon built with
# AddressSanitizer and UndefinedBehaviorSanitizer. Then builds the Python module with the same sanitizers and runs
# four modules of python/tests on it, unless numpy or pybind11 is missing. A finding ends the run with an error. Needs Linux,
# and GCC or Clang.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD
out=$root/build-sanitize
cxx=${CXX:-g++}

if [[ $(uname -s) != Linux ]]; then
  echo "sanitizers: skipped, they need Linux"
  exit 0
fi

# build_addon FOLDER ARGUMENTS: builds the addon in a folder other than build/, with further arguments of gyp.
build_addon() {
  local folder=$1
  mkdir -p "$folder"
  for name in binding.gyp package.json native; do ln -sfn "$root/$name" "$folder/$name"; done
  (
    cd "$folder"
    export CXX=$cxx
    node-gyp configure --loglevel=error -- "${@:2}"
    node-gyp build --loglevel=error --jobs max
  )
}

echo "== Page ends: every shipped kernel, on arrays beside protected pages"
# Compiles nothing if the checkout's addon is current.
npm run --silent build:addon
shipped=$root/build/Release
mkdir -p "$out"
"$cxx" -std=c++17 -O1 -g -pthread -I native test/sanitizers/page-ends.cc test/sanitizers/call_sequence.cc \
  "$shipped"/obj.target/rhythm/native/{batch,kernels,kernel_portable,neutral,replay,tables,thread_pool}.o "$shipped"/kernel_*.a \
  -o "$out/page-ends"
"$out/page-ends"

echo "== Symbols: no two kernels define the same symbol"
# If two files define a symbol, the linker uses one definition for both. So code of AVX-512 could run on a processor without it.
# -fkeep-inline-functions compiles inline functions too, so that they are compared. native/inline.h has RHYTHM_NO_INLINE.
mkdir -p "$out/symbols"
for name in kernel_portable kernel_scalar neutral; do
  "$cxx" -std=c++17 -O0 -fkeep-inline-functions -DRHYTHM_NO_INLINE -I native -c "native/$name.cc" -o "$out/symbols/$name.o"
done
defined() { nm -C --defined-only "$1" | sed -nE 's/^[0-9a-f]+ [A-Zuv] //p' | sort -u; }
twice=$({
  for object in "$out"/symbols/*.o; do defined "$object" | grep '^rhythm::'; done
  for object in "$shipped"/obj.target/kernel_avx*/native/*.o; do if [[ -e $object ]]; then defined "$object"; fi; done
} | sort | uniq -d)
[[ -z $twice ]] || { echo "sanitizers: defined in two files: $twice" >&2; exit 1; }

echo "== Each allocation of each call fails in turn; then: how often steps read all states to find a refusal"
for name in allocations state-scans; do
  "$cxx" -std=c++17 -O1 -g -pthread -I native "test/sanitizers/$name.cc" \
    "$shipped"/obj.target/rhythm/native/{batch,neutral,replay,tables,thread_pool}.o "$shipped"/kernel_scalar.a -o "$out/$name"
  "$out/$name"
done

echo "== ThreadSanitizer: batches of every kernel on several threads"
# Each source has a compilation of its own, so that ccache keeps the objects.
mkdir -p "$out/threads-objects"
for source in test/sanitizers/{threads,call_sequence}.cc native/{batch,replay,tables,neutral,thread_pool,kernel_portable,kernel_scalar}.cc; do
  "$cxx" -std=c++17 -O2 -g -ffp-contract=off -fsanitize=thread -fno-sanitize-recover=all -DRHYTHM_NO_INLINE -pthread -I native \
    -c "$source" -o "$out/threads-objects/$(basename "$source" .cc).o"
done
"$cxx" -fsanitize=thread -pthread "$out"/threads-objects/*.o -o "$out/threads"
TSAN_OPTIONS=halt_on_error=1 "$out/threads"

echo "== Building the addon with AddressSanitizer and UndefinedBehaviorSanitizer"
export CXXFLAGS="-O1 -g1"
build_addon "$out" -Dsanitize=address,undefined

echo "== Running tests of the engine on this addon"
# Node itself is not instrumented, so the runtimes must be loaded first. Leak detection is off, because Node does not free
# its heap at exit.
library() { realpath "$("$cxx" -print-file-name="$1")"; }
export RHYTHM_ADDON="$out/build/Release/rhythm.node"
for symbol in __asan_init __ubsan_handle; do
  grep -q "$symbol" "$RHYTHM_ADDON" || { echo "sanitizers: $RHYTHM_ADDON has no $symbol: not instrumented" >&2; exit 1; }
done
export RHYTHM_REQUIRE=native RHYTHM_SKIP=webgpu
export ASAN_OPTIONS=detect_leaks=0:abort_on_error=1:strict_string_checks=1:allocator_may_return_null=1
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
runtimes="$(library libasan.so):$(library libubsan.so):$(library libstdc++.so.6)"
# Fewer draws suffice: the shipped addon gets more of them in `npm test`, and every kernel plays at the ends of pages above. The
# test of pairs is left out: it only compares bounds. Arguments of this script add files.
RHYTHM_DRAWS=${RHYTHM_DRAWS:-0.05} LD_PRELOAD=$runtimes node node_modules/vitest/vitest.mjs run --project unit --pool=forks --maxWorkers=1 \
  --testNamePattern='^(?!.*refuses two overlapping arrays)' \
  test/engine/backends/{addon-fuzz,addon-overlap,batch-masks,gather,replay,save-load}.test.ts \
  test/engine/vec-env/{lifecycle,run}.test.ts \
  "$@"

echo "== Building the Python module with both sanitizers from the addon's objects, and running four modules of python/tests on it"
python=${RHYTHM_PYTHON:-python3}
if ! "$python" -c 'import numpy, pybind11' 2>/dev/null; then
  echo "!! $python lacks numpy or pybind11: the PYTHON MODULE IS NOT TESTED UNDER SANITIZERS" >&2
  exit 0
fi
copy=$out/copy
rm -rf "$copy"
mkdir -p "$copy/python" "$copy/test/support"
cp -r python/rhythm_vec python/tests "$copy/python"
cp -r test/golden "$copy/test"
cp test/support/invalid-calls.jsonl "$copy/test/support"
rm -f "$copy"/python/rhythm_vec/_native*.so
read -ra includes <<<"$("$python" -m pybind11 --includes)"
"$cxx" -std=c++17 -O1 -g1 -ffp-contract=off -fPIC -shared -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer \
  -fvisibility=hidden -pthread -I native "${includes[@]}" python/binding/module.cc \
  "$out"/build/Release/obj.target/rhythm/native/{batch,encoder,kernels,kernel_portable,neutral,replay,rewards,student,tables,thread_pool}.o \
  "$out"/build/Release/kernel_*.a -o "$copy/python/rhythm_vec/_native.so"
# The quarantine of freed memory is small, because a test measures memory. The golden values are not tested
# again: the engine's tests above compare them.
(cd "$copy/python" && ASAN_OPTIONS+=:quarantine_size_mb=16 LD_PRELOAD=$runtimes PYTHONDONTWRITEBYTECODE=1 \
  "$python" -m unittest tests.test_bad_input tests.test_arrays tests.test_snapshots tests.test_concurrency)
