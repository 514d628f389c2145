/** Loads optional peer packages on first use. */
import { LibraryError } from './errors.js';

/**
 * Imports optional packages.
 * @param what the feature that needs them, in the plural.
 * @param packages as `npm install` takes them, each with a version.
 * @throws LibraryError `library_missing`, with the command that installs them.
 */
export async function load<Library>(
  what: string,
  packages: readonly string[],
  open: () => Promise<Library>,
): Promise<Library> {
  try {
    return await open();
  } catch (cause) {
    const [reason] = (cause as Error).message.split('\n');
    const names = packages.map((name) => name.slice(0, name.lastIndexOf('@'))).join(' and ');
    throw new LibraryError(
      'library_missing',
      `Expected ${names}, which ${what} need, got: ${reason}. Run "npm install ${packages.join(' ')}".`,
      { cause },
    );
  }
}
