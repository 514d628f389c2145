#!/usr/bin/env bash
# Makes the fonts of the page: Latin-1, punctuation, arrows and signs of mathematics of Inter, as WOFF2, with kerning and
# tabular figures. Needs Python with fonttools 4 and brotli: pip install fonttools brotli. The licence, which permits this, is
# copied to the files of the page. The figures in PNG and the picture of a link keep the whole font.
set -euo pipefail
cd "$(dirname "$0")/.."
font=node_modules/@expo-google-fonts/inter
folder=web/src/styles/fonts
for style in 400Regular 600SemiBold; do
  python3 -m fontTools.subset "$font/$style/Inter_$style.ttf" --output-file="$folder/inter-${style:0:3}.woff2" --flavor=woff2 \
    --unicodes=U+20-7E,U+A0-FF,U+2010-2015,U+2018-201E,U+2022,U+2026,U+2032-2033,U+20AC,U+2190-2193,U+2212,U+221A,U+2248,U+2260,U+2264-2265 \
    --layout-features=kern,mark,mkmk,ccmp,tnum
done
cp "$font/LICENSE_FONT" web/public/inter-license.txt
