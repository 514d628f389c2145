#!/usr/bin/env bash
# The package as others get it: packed with a prebuild, and installed from the tarball into an empty folder where nothing
# may be compiled. There the native backend must compute what the reference computes here. Then the same package under
# its install script: with the prebuild, without compiler, and with one. Needs the configured registry or its cache.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD
unset RHYTHM_ADDON RHYTHM_KERNEL RHYTHM_VEC_PREBUILD
export JOBS=max

# Outside the checkout, so that neither its addon nor its node_modules can help.
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

# scores BACKEND: what final-scores.mjs prints in the consumer's folder, compared with the checkout's reference.
scores() {
  (cd "$consumer" && node final-scores.mjs "$1") >"$temporary/scores"
  cmp "$temporary/expected" "$temporary/scores" || fail "backend $1 of the package differs from the checkout's reference"
}

echo "== Making the prebuild and packing"
npm run --loglevel=error build:prebuild >"$temporary/log" 2>&1 || { cat "$temporary/log"; fail "no prebuild"; }
npm pack --loglevel=error --pack-destination "$temporary" >/dev/null
tarball=("$temporary"/rhythm-vec-*.tgz)
contents=$(tar -tzf "${tarball[0]}" | cut -d/ -f2 | sort -u | tr '\n' ' ')
[[ $contents == "LICENSE README.md binding.gyp dist docs native openenv.yaml package.json prebuilds python scripts " ]] ||
  fail "the tarball has other contents: $contents"
node test/packaging/final-scores.mjs reference >"$temporary/expected"

echo "== Installing it without install scripts: the prebuild computes what the reference computes"
mkdir "$consumer"
cp test/packaging/final-scores.mjs "$consumer"
echo '{ "private": true }' >"$consumer/package.json"
(cd "$consumer" && npm install --ignore-scripts --loglevel=error "${tarball[0]}")
if grep -rqF "$root/" "$package/prebuilds"; then fail "the prebuild names the folder where it was made"; fi
scores native
(cd "$consumer" && node "$package/dist/cli/main.js" info) | grep -q 'backend webgpu .*npm install webgpu' ||
  fail "info does not say how to add the optional package webgpu"

echo "== Its types hold for a strict consumer that checks libraries too"
# The consumer's own @types/node, as most have it.
(cd "$consumer" && "$root/node_modules/.bin/tsc" --noEmit --checkJs --strict --skipLibCheck false --target es2022 \
  --module nodenext --typeRoots "$root/node_modules/@types" --types node final-scores.mjs)

echo "== For browsers too, which have no types of Node's, by its own name under a bundler and by the browser's"
cp test/packaging/browser.mjs "$consumer"
for name in rhythm-vec rhythm-vec/browser; do
  sed -i "s|from 'rhythm-vec[^']*'|from '$name'|" "$consumer/browser.mjs"
  (cd "$consumer" && "$root/node_modules/.bin/tsc" --noEmit --allowJs --checkJs --strict --skipLibCheck false --target es2022 \
    --lib es2022,dom --module esnext --moduleResolution bundler --customConditions browser --types '' browser.mjs)
done
(cd "$consumer" && node browser.mjs) >"$temporary/browsed"
[[ $(cat "$temporary/browsed") == "reference 28 true" ]] || fail "the browser's door: $(cat "$temporary/browsed")"

echo "== Its install script compiles nothing where the prebuild loads"
(cd "$package" && node scripts/install.js)
[[ ! -e $package/build ]] || fail "compiled although the prebuild loads"

echo "== Without prebuild and compiler it installs, warns, and the reference does the work"
rm -r "$package/prebuilds"
(cd "$package" && CC=no-compiler CXX=no-compiler node scripts/install.js) 2>"$temporary/warning"
grep -q "addon was not built" "$temporary/warning" || fail "no warning: $(cat "$temporary/warning")"
info=$(cd "$consumer" && npx --no -- rhythm-vec info)
grep -q "backend native .*not available: .*npm run build:addon" <<<"$info" || fail "info does not say why: $info"
scores auto

echo "== Without prebuild its install script compiles from the sources in the package"
(cd "$package" && node scripts/install.js)
scores native
