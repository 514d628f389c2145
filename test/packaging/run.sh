#!/usr/bin/env bash
# Tests the published package. Packs it with a prebuild, and installs the tarball into an empty folder without compiling.
# The installed native backend must compute the same scores as this checkout's reference. Measures the installation, bundles a
# program, and checks the types and the worker example of docs/guides/async-and-webgpu.md. Last, runs the package's install
# script: with the prebuild, without a compiler, and with a compiler. npm needs its registry, or a cache of the packages.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD
unset RHYTHM_ADDON RHYTHM_KERNEL RHYTHM_VEC_PREBUILD
export JOBS=max # node-gyp compiles on all cores

# Outside the checkout, so that the package finds neither the checkout's addon nor the checkout's node_modules.
temporary=$(mktemp -d)
had_prebuilds=$([[ -e prebuilds ]] && echo yes || echo no)
clean_up() {
  rm -rf "$temporary"
  [[ $had_prebuilds == yes ]] || rm -rf "$root/prebuilds"
}
trap clean_up EXIT
consumer=$temporary/consumer
package=$consumer/node_modules/rhythm-vec

fail() { echo "packaging: $*" >&2; exit 1; }

# check_scores BACKEND: compares the scores of the installed package with those of the checkout's reference.
check_scores() {
  (cd "$consumer" && node final-scores.mjs "$1") >"$temporary/scores"
  cmp "$temporary/expected" "$temporary/scores" || fail "backend $1 of the package differs from the checkout's reference"
}

echo "== Making the prebuild and packing"
npm run --loglevel=error build:prebuild >"$temporary/log" 2>&1 || { cat "$temporary/log"; fail "no prebuild"; }
# Not by the script `prepare` of `npm pack`, which would compile again what `npm ci` has compiled.
changed=$(find src scripts/bundle.js package.json tsconfig*.json -newer lib/cli.js)
[[ -z $changed ]] || npm run --silent prepare
npm pack --ignore-scripts --loglevel=error --pack-destination "$temporary" >/dev/null
tarball=("$temporary"/rhythm-vec-*.tgz)
contents=$(tar -tzf "${tarball[0]}" | cut -d/ -f2 | sort -u | tr '\n' ' ')
[[ $contents == "LICENSE README.md binding.gyp deploy docs examples lib native package.json prebuilds python scripts " ]] ||
  fail "the tarball has other contents: $contents"
node test/packaging/final-scores.mjs reference >"$temporary/expected"

echo "== Installing it without install scripts: the prebuild computes the reference's scores"
mkdir "$consumer"
cp test/packaging/final-scores.mjs "$consumer"
echo '{ "private": true }' >"$consumer/package.json"
(cd "$consumer" && npm install --ignore-scripts --loglevel=error "${tarball[0]}")
if grep -rqF "$root/" "$package/prebuilds"; then fail "the prebuild names the folder where it was made"; fi
check_scores native
(cd "$consumer" && node_modules/.bin/rhythm-vec info) | grep -q 'backend webgpu .*npm install webgpu' ||
  fail "info does not say how to add the optional package webgpu"

echo "== Size, number of packages and import time are within the limits"
(cd "$consumer" && node "$root/test/packaging/measure.mjs")

echo "== Strict TypeScript with module node16 accepts import and require of every subpath for Node, and Node runs both"
cp test/packaging/{required.cts,imported.mts} "$consumer"
(cd "$consumer" && "$root/node_modules/.bin/tsc" --checkJs --strict --skipLibCheck false --target es2022 --module node16 \
  --typeRoots "$root/node_modules/@types" --types node --outDir compiled required.cts imported.mts final-scores.mjs)
for program in required.cjs imported.mjs; do
  output=$(cd "$consumer" && node "compiled/$program")
  [[ $output == "native 2 true true" ]] || fail "$program printed: $output"
done

echo "== The worker example of docs/guides/async-and-webgpu.md runs under tsx"
awk '/^import .*node:worker_threads/ { on = 1 } /^```/ && on { exit } on' docs/guides/async-and-webgpu.md >"$consumer/worker.mts"
(cd "$consumer" && "$root/node_modules/.bin/tsx" worker.mts) >"$temporary/worked"
grep -qF "$(cat "$temporary/worked")" docs/guides/async-and-webgpu.md || fail "the worker printed: $(cat "$temporary/worked")"

echo "== Bundles made by esbuild, rollup and webpack play on the native backend, or say what to do"
mkdir "$temporary/tools"
echo '{ "private": true }' >"$temporary/tools/package.json"
if (cd "$temporary/tools" && npm install --no-audit --no-fund --loglevel=error rollup@4 @rollup/plugin-node-resolve@16 webpack@5); then
  cp test/packaging/bundled.mjs "$consumer"
  (cd "$consumer" && node "$root/test/packaging/bundlers.mjs" "$temporary/tools")
else
  echo "!! npm cannot install the bundlers here: BUNDLES ARE NOT TESTED" >&2
fi

echo "== A strict TypeScript project for browsers, without types of Node, accepts both names of the browser entry"
cp test/packaging/browser.mjs "$consumer"
sed "s|from 'rhythm-vec/browser'|from 'rhythm-vec'|" test/packaging/browser.mjs >"$consumer/bundled-for-browsers.mjs"
(cd "$consumer" && "$root/node_modules/.bin/tsc" --noEmit --checkJs --strict --skipLibCheck false --target es2022 --lib es2022,dom \
  --module esnext --moduleResolution bundler --customConditions browser --types '' browser.mjs bundled-for-browsers.mjs)
(cd "$consumer" && node browser.mjs) >"$temporary/browsed"
[[ $(cat "$temporary/browsed") == "reference 28 true" ]] || fail "the browser entry printed: $(cat "$temporary/browsed")"

echo "== Its install script compiles nothing if the prebuild loads"
(cd "$package" && npm run --silent install)
[[ ! -e $package/build ]] || fail "compiled although the prebuild loads"

echo "== Without a prebuild and a compiler its install script warns, and the reference computes the scores"
rm -r "$package/prebuilds"
(cd "$package" && CC=no-compiler CXX=no-compiler npm run --silent install) 2>"$temporary/warning"
grep -q "addon was not built" "$temporary/warning" || fail "no warning: $(cat "$temporary/warning")"
info=$(cd "$consumer" && node_modules/.bin/rhythm-vec info)
grep -q "backend native .*not available: .*npm run build:addon" <<<"$info" || fail "info does not say why: $info"
check_scores auto

echo "== Without a prebuild its install script compiles the addon"
(cd "$package" && npm run --silent install)
check_scores native
