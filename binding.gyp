{
  "variables": {
    "sanitize%": "",
    # Whether the compiler is GCC. gyp's variable `clang` says what compiled Node. Windows takes ClangCL below.
    "gcc": "<!(node -p \"+/Free Software/.test(require('child_process').spawnSync((process.env.CXX||'g++')+' --version',{shell:true}).stdout)\")",
    # "yes" for a prebuild: on Linux it has libstdc++ inside, and runs on older systems.
    "rhythm_prebuild%": "",
    # Flags of all compilations. They keep the rounding exact: no fused operations and no fast math.
    "rounding": [
      "-std=c++17", "-O3", "-ffp-contract=off", "-fno-fast-math", "-fvisibility=hidden", "-fexceptions", "-Wall", "-Wextra"
    ]
  },
  "target_defaults": {
    "cflags_cc!": ["-std=gnu++17", "-fno-rtti", "-fno-exceptions"],
    # Flags that a target adds. They are a variable, because Xcode and Visual Studio do not read the cflags_cc of a target.
    "variables": { "own_flags": [] },
    "cflags_cc": ["<@(rounding)", ">@(own_flags)"],
    "defines": ["NAPI_VERSION=8", "NODE_ADDON_API_DISABLE_DEPRECATED", "NODE_ADDON_API_DISABLE_CPP_EXCEPTIONS"],
    "include_dirs": ["native", "<!(node -p \"require('node-addon-api').include_dir\")"],
    "xcode_settings": { "OTHER_CPLUSPLUSFLAGS": ["<@(rounding)", ">@(own_flags)"] },
    "conditions": [
      # MSVC lacks the vector types. clang-cl knows some flags of clang only after /clang:, and by default fuses operations.
      ["OS=='win'", {
        "msbuild_toolset": "ClangCL",
        "msvs_settings": {
          "VCCLCompilerTool": {
            "ExceptionHandling": 1,
            "WholeProgramOptimization": "false",
            "AdditionalOptions": ["/std:c++17", "/clang:-ffp-contract=off", ">@(own_flags)"]
          }
        }
      }],
      ["target_arch=='x64'", { "defines": ["RHYTHM_X64"] }],
      ["sanitize!=''", {
        "cflags_cc": ["-fsanitize=<(sanitize)", "-fno-omit-frame-pointer", "-fno-sanitize-recover=all", "-g"],
        "ldflags": ["-fsanitize=<(sanitize)"],
        "defines": ["RHYTHM_NO_INLINE"]
      }]
    ]
  },
  "targets": [
    {
      "target_name": "rhythm",
      "sources": [
        "native/addon.cc",
        "native/batch.cc",
        "native/encoder.cc",
        "native/kernels.cc",
        "native/kernel_portable.cc",
        "native/neutral.cc",
        "native/replay.cc",
        "native/rewards.cc",
        "native/student.cc",
        "native/tables.cc",
        "native/thread_pool.cc"
      ],
      "dependencies": ["kernel_scalar"],
      "conditions": [
        ["target_arch=='x64'", { "dependencies": ["kernel_avx2", "kernel_avx512"] }],
        # Without --gc-sections, unused parts of libstdc++ need newer versions of glibc. -s removes the symbols.
        ["rhythm_prebuild=='yes' and OS=='linux'", {
          "sources": ["native/glibc.cc"],
          "ldflags": ["-static-libstdc++", "-Wl,--exclude-libs,ALL", "-Wl,--gc-sections", "-s"]
        }]
      ]
    },
    {
      "target_name": "kernel_scalar",
      "type": "static_library",
      "win_delay_load_hook": "false",
      "sources": ["native/kernel_scalar.cc"],
      # -O3 packs a handful of single floats into vectors and unpacks them again: a step then takes 7 % longer.
      "variables": { "own_flags": ["-O2"] }
    }
  ],
  "conditions": [
    ["target_arch=='x64'", {
      "targets": [
        {
          "target_name": "kernel_avx2",
          "type": "static_library",
          "win_delay_load_hook": "false",
          "sources": ["native/kernel_avx2.cc"],
          "variables": { "own_flags": ["-mavx2"] }
        },
        {
          "target_name": "kernel_avx512",
          "type": "static_library",
          "win_delay_load_hook": "false",
          "sources": ["native/kernel_avx512.cc"],
          # -O2: as fast as -O3, with a third less code, compiled in two thirds of the time.
          "variables": { "own_flags": ["-O2", "-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl"] },
          # gcc 12's own intrinsics cause these warnings. The kernel's vectors are written by hand: if gcc vectorises more
          # code, a step is slower. Renamed registers make a step 2 % faster.
          "conditions": [["gcc==1", {
            "cflags_cc": [
              "-mprefer-vector-width=512", "-frename-registers", "-fno-tree-vectorize",
              "-Wno-maybe-uninitialized", "-Wno-uninitialized"
            ]
          }]]
        }
      ]
    }]
  ]
}
