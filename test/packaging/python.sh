#!/usr/bin/env bash
# Tests the Python package. Builds the source distribution, and the wheel from it outside the repository. Installs the wheel
# into an empty environment and runs python/tests there. Then copies the compiled module into python/rhythm_vec, checks the
# types, and runs the tests there with the libraries that are installed. RHYTHM_PYTHON, by default python3, needs build,
# numpy, pybind11 and scikit-build-core; to check the types, mypy. Without ray or gymnasium, the tests of Ray are skipped, or
# fail if RHYTHM_REQUIRE names ray.
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

echo "== Building the source distribution, and the wheel from it"
"$python" -m build --no-isolation --outdir "$temporary/dist" python >"$temporary/log" 2>&1 ||
  { tail -40 "$temporary/log" >&2; fail "the build failed"; }
sdist=("$temporary"/dist/rhythm_vec-*.tar.gz)
wheel=("$temporary"/dist/rhythm_vec-*.whl)
tar -tzf "${sdist[0]}" | cut -d/ -f2- >"$temporary/files"
for name in LICENSE README.md build_backend.py binding/module.cc native/batch.h native/generated/world.h rhythm_vec/py.typed; do
  grep -qx "$name" "$temporary/files" || fail "the source distribution lacks $name"
done
if grep -E '^(recipe|examples|rhythm_vec_env|tests)/|_native.*\.so$' "$temporary/files"; then fail "the source distribution must not have the files above"; fi
"$python" -m zipfile -l "${wheel[0]}" | awk '{ print $1 }' >"$temporary/files"
[[ $(grep -c '^rhythm_vec/_native\.' "$temporary/files") == 2 ]] || fail "the wheel has other files than _native.pyi and one module"
grep -q '/licenses/LICENSE$' "$temporary/files" || fail "the wheel lacks LICENSE"
if grep -vE '^(rhythm_vec|rhythm_vec-[^/]*\.dist-info)/|^File$' "$temporary/files"; then fail "the wheel must not have the files above"; fi
[[ ! -e python/native && ! -e python/LICENSE ]] || fail "the build left its copies in python"

echo "== Installing the wheel into an empty environment, and testing it there"
"$python" -m venv "$temporary/empty"
timeout 300 "$temporary/empty/bin/pip" install --quiet "${wheel[0]}"
mkdir -p "$temporary/copy/python" "$temporary/copy/test"
cp -r python/tests "$temporary/copy/python"
cp -r test/golden "$temporary/copy/test"
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
cd "$root/python" && "$python" -m unittest discover --start-directory tests --top-level-directory .
