/**
 * The libraries that draw. Who only steps need not have them: they are optional peers of the package, loaded when a
 * picture is asked for.
 */
import { LibraryError } from '../errors.js';

/** @internal What turns a specification into SVG. @throws LibraryError `library_missing`. */
export const loadVega = (): Promise<Vega> =>
  load('SVG pictures', ['vega@6', 'vega-lite@6.4'], async () => {
    const [vega, vegaLite] = await Promise.all([import('vega'), import('vega-lite')]);
    return { vega, compile: vegaLite.compile };
  });

interface Vega {
  readonly vega: typeof import('vega');
  readonly compile: typeof import('vega-lite').compile;
}

/**
 * Imports optional packages.
 * @param what needs them, in the plural. @param packages as `npm install` takes them, each with a version.
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
