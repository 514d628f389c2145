#!/usr/bin/env bash
# Tests the published package. Packs it with a prebuild that runs on older systems, and installs the tarball, which has no install
# scripts, into an empty folder. The installed native backend must compute the same scores as this checkout's reference. Measures
# the installation, bundles a program, and checks the types and the worker example of docs/guides/async-and-webgpu.md. Last,
# removes the prebuild, and runs `rhythm-vec build` without and with a compiler. npm needs its registry, or a cache of the packages.
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

echo "== Making the prebuild, whose symbol versions are checked, and packing"
npm run --loglevel=error build:prebuild >"$temporary/log" 2>&1 || { cat "$temporary/log"; fail "no prebuild"; }
if [[ $(uname -s) == Linux ]]; then
  check="import('./scripts/symbol-versions.js').then(({ checkSymbolVersions }) => checkSymbolVersions('build/Release/rhythm.node'))"
  if node -e "$check" 2>"$temporary/log"; then fail "the check of symbol versions accepts an addon with another libstdc++"; fi
  grep -q GLIBCXX "$temporary/log" || { cat "$temporary/log"; fail "the check of symbol versions failed"; }
fi
# Not by the script `prepack` of `npm pack`, which would compile again what `npm ci` has compiled.
changed=$(find src examples/train.ts scripts/bundle.js package.json tsconfig*.json -newer lib/cli.js)
[[ -z $changed ]] || npm run --silent compile
npm pack --ignore-scripts --loglevel=error --pack-destination "$temporary" >/dev/null
tarball=("$temporary"/rhythm-vec-*.tgz)
contents=$(tar -tzf "${tarball[0]}" | cut -d/ -f2 | sort -u | tr '\n' ' ')
[[ $contents == "LICENSE README.md deploy docs examples lib native package.json prebuilds python " ]] ||
  fail "the tarball has other contents: $contents"
node test/packaging/final-scores.mjs reference >"$temporary/expected"

echo "== Installing it, where no script runs: the prebuild computes the reference's scores"
mkdir "$consumer"
cp test/packaging/final-scores.mjs "$consumer"
echo '{ "private": true }' >"$consumer/package.json"
# Without a file *.gyp beside package.json and without these scripts, no package manager has a script to run or to warn of.
(cd "$consumer" && npm install --loglevel=error "${tarball[0]}")
scripts=$(cd "$consumer" && npm query --loglevel=error ':attr(scripts, [preinstall]), :attr(scripts, [install]), :attr(scripts, [postinstall]), :attr(scripts, [prepare])')
[[ $scripts == "[]" ]] || fail "installed packages have install scripts: $scripts"
if grep -rqF "$root/" "$package/prebuilds"; then fail "the prebuild names the folder where it was made"; fi
check_scores native
(cd "$consumer" && node node_modules/rhythm-vec/lib/examples/train.js 1) | grep -q '^ *1 0\.' || fail "the tutorial's training does not run"
(cd "$consumer" && node_modules/.bin/rhythm-vec info) | grep -q 'backend webgpu .*npm install webgpu' ||
  fail "info does not say how to add the optional package webgpu"

echo "== Size, number of packages and import time are within the limits"
(cd "$consumer" && node "$root/test/packaging/measure.mjs" "${tarball[0]}")

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

echo "== Bundles made by esbuild, rollup and webpack play on the native backend, and in WebAssembly without the addon"
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
[[ $(cat "$temporary/browsed") == "wasm 28 true" ]] || fail "the browser entry printed: $(cat "$temporary/browsed")"

echo "== Without a prebuild WebAssembly computes the scores, and info names the command that compiles the addon"
rm -r "$package/prebuilds"
info=$(cd "$consumer" && node_modules/.bin/rhythm-vec info)
grep -q "backend native .*not available: .*npx rhythm-vec build" <<<"$info" || fail "info does not say why: $info"
check_scores wasm
check_scores auto

echo "== rhythm-vec build names a missing compiler, and an earlier addon stays"
mkdir -p "$package/build/Release"
echo earlier >"$package/build/Release/rhythm.node"
if (cd "$consumer" && CC=no-compiler CXX=no-compiler npx rhythm-vec build) 2>"$temporary/log"; then fail "built without a compiler"; fi
grep -q "Expected a C++17 compiler, .*Install" "$temporary/log" || fail "no compiler is named: $(cat "$temporary/log")"
[[ $(cat "$package/build/Release/rhythm.node") == earlier ]] || fail "the earlier addon is gone"

echo "== rhythm-vec build compiles the addon, and leaves no other file"
(cd "$consumer" && npx rhythm-vec build)
[[ $(cd "$package" && find build* -type f) == build/Release/rhythm.node ]] || fail "left: $(cd "$package" && find build* -type f | head)"
check_scores native
