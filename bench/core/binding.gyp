# The addon with which core.ts measures the speed of a processor core. Only the bench builds it: it is not in the package.
{
  "target_defaults": {
    "cflags_cc!": ["-std=gnu++17", "-fno-exceptions"],
    "variables": { "own_flags": [] },
    "cflags_cc": ["-std=c++17", "-O2", "-ffp-contract=off", "-Wall", "-Wextra", ">@(own_flags)"],
    "defines": ["NAPI_VERSION=8", "NODE_ADDON_API_CPP_EXCEPTIONS"],
    "include_dirs": ["<!(node -p \"require('node-addon-api').include_dir\")", "../../native"],
    "xcode_settings": {
      "CLANG_CXX_LANGUAGE_STANDARD": "c++17",
      "GCC_ENABLE_CPP_EXCEPTIONS": "YES",
      "OTHER_CPLUSPLUSFLAGS": ["-O2", "-ffp-contract=off", ">@(own_flags)"]
    },
    "conditions": [["target_arch=='x64'", { "defines": ["RHYTHM_X64"] }]],
    # Each kernel has a library with its own flags.
    "target_conditions": [["_type=='static_library'", { "sources": ["probe.cc"] }]]
  },
  "targets": [
    {
      "target_name": "core",
      "sources": ["addon.cc"],
      "dependencies": ["portable", "scalar"],
      "conditions": [["target_arch=='x64'", { "dependencies": ["avx2", "avx512"] }]]
    },
    { "target_name": "portable", "type": "static_library", "defines": ["KERNEL=portable", "LANES=lanes_portable.h"] },
    { "target_name": "scalar", "type": "static_library", "defines": ["KERNEL=scalar", "LANES=lanes_scalar.h"] }
  ],
  "conditions": [
    ["target_arch=='x64'", {
      "targets": [
        {
          "target_name": "avx2",
          "type": "static_library",
          "defines": ["KERNEL=avx2", "LANES=lanes_avx2.h"],
          "variables": { "own_flags": ["-mavx2"] }
        },
        {
          "target_name": "avx512",
          "type": "static_library",
          "defines": ["KERNEL=avx512", "LANES=lanes_avx512.h"],
          "variables": { "own_flags": ["-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl", "-mprefer-vector-width=512"] },
          # The headers of gcc 12 cause these warnings.
          "conditions": [["clang==0", { "cflags_cc": ["-Wno-maybe-uninitialized", "-Wno-uninitialized"] }]]
        }
      ]
    }]
  ]
}
