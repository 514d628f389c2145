/** Imports optional peer packages. */
import { LibraryError } from './errors.js';

/** The packages of each feature, as arguments of `npm install`. */
export const PACKAGES = {
  models: ['openai@6', 'fs-native-extensions@1'],
  servers: ['hono@4', '@hono/node-server@2', 'ws@8', 'prom-client@15'],
  parquet: ['hyparquet@1', 'hyparquet-writer@0.17'],
  compressions: ['hyparquet-compressors@1'],
  queues: ['bullmq@6', 'ioredis@5'],
  students: ['@jax-js/jax@0.1'],
} as const;

/**
 * Imports a package at run time. Bundlers leave this import to Node, so they can bundle programs without the package.
 * @param name the name of an optional package.
 */
export const importOptional = <Library>(name: string): Promise<Library> =>
  import(/* webpackIgnore: true */ /* @vite-ignore */ name);

/** Returns whether an import failed because the package is not installed. Errors of Yarn's Plug'n'Play have a code of their own. */
export const isNotInstalled = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND' || 'pnpCode' in Object(error);

/** The error of missing packages. */
class MissingPackages extends LibraryError {
  readonly what: readonly string[];
  readonly packages: readonly string[];
  readonly reasons: readonly string[];

  /** @param what the features that need them, in the plural. @param packages as `npm install` takes them, with versions. */
  constructor(
    what: readonly string[],
    packages: readonly string[],
    reasons: readonly string[],
    cause: unknown,
  ) {
    const names = packages.map((name) => name.slice(0, name.lastIndexOf('@')));
    super(
      'library_missing',
      `Expected ${listOf(names)}, which ${listOf(what)} need, got: ${reasons.join('; ')}. ` +
        `Run "npm install ${packages.join(' ')}".`,
      { cause },
    );
    // The API exports LibraryError only.
    this.name = LibraryError.name;
    this.what = what;
    this.packages = packages;
    this.reasons = reasons;
  }
}

/** Returns "a", "a and b" or "a, b and c". */
const listOf = (names: readonly string[]): string =>
  [names.slice(0, -1).join(', '), ...names.slice(-1)].filter((part) => part !== '').join(' and ');

/**
 * Imports optional packages.
 * @param what the feature that needs them, in the plural.
 * @param packages as `npm install` takes them, each with a version.
 * @param importAll imports the packages.
 * @throws LibraryError `library_missing`, with the command that installs the packages.
 */
export async function load<Library>(
  what: string,
  packages: readonly string[],
  importAll: () => Promise<Library>,
): Promise<Library> {
  try {
    return await importAll();
  } catch (cause) {
    const [reason] = (cause as Error).message.split(/\.?\n/);
    throw new MissingPackages([what], packages, [reason], cause);
  }
}

/**
 * Imports the packages of several features.
 * @param loads calls of `load`. @throws LibraryError `library_missing`, with one command for all missing packages.
 */
export async function loadAll(loads: readonly (() => Promise<unknown>)[]): Promise<void> {
  const errors: MissingPackages[] = [];
  for (const each of loads) {
    try {
      await each();
    } catch (error) {
      if (!(error instanceof MissingPackages)) throw error;
      errors.push(error);
    }
  }
  const [first] = errors;
  if (errors.length < 2) {
    if (first !== undefined) throw first;
    return;
  }
  throw new MissingPackages(
    errors.flatMap(({ what }) => what),
    errors.flatMap(({ packages }) => packages),
    errors.flatMap(({ reasons }) => reasons),
    first,
  );
}
