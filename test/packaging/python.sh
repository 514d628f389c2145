#!/usr/bin/env bash
# Tests the Python package. Builds the source distribution in a copy of the checkout, and the wheel from it beside a foreign
# folder native. Installs the wheel into an empty environment and runs python/tests there. Then copies the compiled module into python/rhythm_vec, checks the
# types, and runs the tests there with the libraries that are installed. RHYTHM_PYTHON, by default python3, needs build,
# numpy, pybind11 and scikit-build-core; to check the types, mypy. Without ray or gymnasium, the tests of Ray are skipped, or
# fail if RHYTHM_REQUIRE names ray. RHYTHM_PYTHON_TESTS=package leaves out the tests in the source tree.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD
python=${RHYTHM_PYTHON:-python3}
export PIP_DISABLE_PIP_VERSION_CHECK=1
if [[ -z ${PYTHONPYCACHEPREFIX:-} ]]; then export PYTHONDONTWRITEBYTECODE=1; fi

temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
fail() { echo "python package: $*" >&2; exit 1; }
"$python" -c 'import build, numpy, pybind11, scikit_build_core' ||
  fail "missing packages. Run: $python -m pip install build numpy pybind11 'scikit-build-core>=0.10'"

# build FOLDER ARGUMENT...: builds a distribution of FOLDER into $temporary/dist.
build() {
  "$python" -m build --no-isolation --outdir "$temporary/dist" "$@" >"$temporary/log" 2>&1 ||
    { tail -40 "$temporary/log" >&2; fail "the build failed"; }
}

echo "== Building the source distribution, which must contain the engine of the checkout and change nothing there"
checkout=$temporary/checkout
mkdir "$checkout"
cp -r python native binding.gyp "$checkout"
# What a killed build of an earlier release left, and the result of another.
mkdir -p "$checkout"/python/{native,dist}
echo '#error' | tee "$checkout/python/native/batch.h" >"$checkout/python/dist/rhythm_vec-0.2.0.tar.gz"
cp -r "$checkout" "$temporary/before"
build "$checkout/python" --sdist
diff -r "$temporary/before" "$checkout" || fail "the build changed the checkout"
sdist=("$temporary"/dist/rhythm_vec-*.tar.gz)
tar -tzf "${sdist[0]}" | cut -d/ -f2- >"$temporary/files"
for name in LICENSE README.md build_backend.py binding/module.cc native/batch.h native/generated/world.h rhythm_vec/py.typed; do
  grep -qx "$name" "$temporary/files" || fail "the source distribution lacks $name"
done
if grep -E '^(recipe|examples|rhythm_vec_env|tests|dist)/|_native.*\.so$' "$temporary/files"; then fail "the source distribution must not have the files above"; fi
foreign=$temporary/foreign
mkdir -p "$foreign/native"
echo '#error' >"$foreign/native/batch.h"
cp binding.gyp "$foreign"
tar -xzf "${sdist[0]}" -C "$foreign"
diff -r native "$foreign"/rhythm_vec-*/native || fail "the source distribution has another engine than native/"
cmp LICENSE "$foreign"/rhythm_vec-*/LICENSE || fail "python/LICENSE is not a copy of LICENSE"

echo "== Building the wheel from it, beside a foreign folder native"
build "$foreign"/rhythm_vec-* --wheel
wheel=("$temporary"/dist/rhythm_vec-*.whl)
"$python" -m zipfile -l "${wheel[0]}" | awk '{ print $1 }' >"$temporary/files"
[[ $(grep -c '^rhythm_vec/_native\.' "$temporary/files") == 2 ]] || fail "the wheel has other files than _native.pyi and one module"
grep -q '/licenses/LICENSE$' "$temporary/files" || fail "the wheel lacks LICENSE"
if grep -vE '^(rhythm_vec|rhythm_vec-[^/]*\.dist-info)/|^File$' "$temporary/files"; then fail "the wheel must not have the files above"; fi

echo "== Building an editable wheel in the checkout: configured there, and not compiled again"
settings='{"build.targets": ["help"], "install.components": ["none"]}'
(cd "$checkout/python" && "$python" -c "import build_backend; build_backend.build_editable('$temporary/editable', $settings)") \
  >"$temporary/log" 2>&1 || { tail -40 "$temporary/log" >&2; fail "the editable build failed"; }
rm "$checkout/binding.gyp"
if (cd "$checkout/python" && "$python" -c "import build_backend; build_backend._engine()") 2>"$temporary/log"; then
  fail "a folder python outside a checkout was built with the folder native beside it"
fi
grep -q '^Expected .* PKG-INFO .* binding.gyp' "$temporary/log" || { cat "$temporary/log" >&2; fail "the error above is another one"; }

echo "== Installing the wheel into an empty environment, and testing it there"
"$python" -m venv "$temporary/empty"
timeout 300 "$temporary/empty/bin/pip" install --quiet "${wheel[0]}"
mkdir -p "$temporary/copy/python" "$temporary/copy/test/support"
cp -r python/tests "$temporary/copy/python"
cp -r test/golden "$temporary/copy/test"
cp test/support/invalid-calls.jsonl "$temporary/copy/test/support"
(cd "$temporary/copy/python" && RHYTHM_REQUIRE='' "$temporary/empty/bin/python" -m unittest discover --start-directory tests --top-level-directory .)

echo "== The source tree with the compiled module: types, and tests with the libraries of $python"
rm -f python/rhythm_vec/_native*.so
"$python" -m zipfile -e "${wheel[0]}" "$temporary/unpacked"
cp "$temporary"/unpacked/rhythm_vec/_native*.so python/rhythm_vec
if "$python" -c 'import mypy' 2>"$temporary/log"; then
  (cd python && "$python" -m mypy --cache-dir "$temporary/mypy")
else
  echo "!! mypy is missing: the TYPES OF THE PYTHON PACKAGE ARE NOT CHECKED" >&2
fi
if [[ ${RHYTHM_PYTHON_TESTS:-all} == package ]]; then exit; fi
cd "$root/python" && "$python" -m unittest discover --start-directory tests --top-level-directory .
