/** Checks which versions of glibc and libstdc++ an addon for Linux needs. */
import { execFileSync } from 'node:child_process';

/** The glibc of RHEL 8, which Node's own binaries need. */
const GLIBC = '2.28';

const isNewer = (version, limit) => version.localeCompare(limit, 'en', { numeric: true }) > 0;

/** Checks a file. @throws Error that names the versions that older systems lack. */
export function checkSymbolVersions(path) {
  const output = execFileSync('readelf', ['--version-info', '--wide', path], { encoding: 'utf8' });
  const versions = new Set(output.match(/\b(?:GLIBC|GLIBCXX|CXXABI)_[\d.]+/g));
  const unwanted = [...versions].filter((name) => {
    const [library, version] = name.split('_');
    return library !== 'GLIBC' || isNewer(version, GLIBC);
  });
  if (versions.size === 0 || unwanted.length > 0) {
    throw new Error(
      `Expected ${path} to need glibc, at most ${GLIBC}, and no libstdc++, got ${unwanted.join(', ') || 'no versions'}. ` +
        'Define the symbols in native/glibc.cc, or link with an older glibc.',
    );
  }
}
