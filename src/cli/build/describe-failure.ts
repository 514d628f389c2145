/** Says why a compilation failed. */

/** A cause: a pattern of the output that shows it, whose group is what came; what was expected; the remedy. */
type Cause = readonly [pattern: RegExp, expected: string, remedy: string];

const COMPILER =
  'Install make and a C++17 compiler, such as build-essential of Debian, or set CXX to the compiler.';

/** The causes in the order in which node-gyp meets them. */
const CAUSES: readonly Cause[] = [
  [/(EACCES.*|EROFS.*)/, 'a folder that can be written', 'Run this as the owner of the folder.'],
  [/(Could not find any Python.*)/, 'Python 3', 'Install it, or set PYTHON to its path.'],
  [
    /http (GET \S+)[\s\S]*install got an error/,
    "an answer with Node's headers",
    'Allow node-gyp to download them, or set npm_config_nodedir to a folder that has include/node.',
  ],
  [/(Could not find any Visual Studio.*)/, 'Visual Studio', 'Install its build tools for C++, with Clang.'],
  [
    /(Cannot find module 'node-addon-api')/,
    'node-addon-api',
    'Install rhythm-vec again, with its dependencies.',
  ],
  [/(not found: make)/, 'make', COMPILER],
  [/(.*xcode-select.*|.*No Xcode.*)/, 'the command line tools of Xcode', 'Run "xcode-select --install".'],
  [
    /((?:make: .*|FileNotFoundError.*)No such file.*|.*: (?:command )?not found|.*cc1plus.*)/,
    'a C++17 compiler',
    COMPILER,
  ],
  [/(.*\berror\b.*)/i, 'a compiler that accepts the sources', 'Use a newer C++17 compiler, or report this.'],
];

/** Returns the message of a failed compilation. @param output what node-gyp printed. */
export function describeFailure(output: string): string {
  for (const [pattern, expected, remedy] of CAUSES) {
    const got = pattern.exec(output)?.[1];
    if (got !== undefined) return message(expected, got, remedy);
  }
  return message('node-gyp to succeed', output.slice(-400), 'Run node-gyp to see more.');
}

const message = (expected: string, got: string, remedy: string): string =>
  `Expected ${expected}, to compile the addon, got: ${got.trim().replace(/\.?$/, '.')} ${remedy}`;
