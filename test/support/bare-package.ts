/** A copy of this package as it is installed: bundled, with its dependencies and without the optional peer dependencies. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: Readonly<Record<string, { optional: boolean }>>;
}

/** This package's package.json. */
export const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest;

/** Packages that lib includes. Modules of dist import them, and tests load some modules of dist. */
const BUNDLED = ['@noble/hashes', 'crc-32', 'fastest-levenshtein', 'p-retry', 'zod'];

/** A folder with copies of the package's files, and links to its dependencies. The caller removes it. */
export class BarePackage {
  readonly folder = mkdtempSync(join(tmpdir(), 'rhythm-'));

  constructor() {
    // Copied, because through a link Node would find this checkout's packages.
    for (const name of ['dist', 'lib', 'package.json'])
      cpSync(join(ROOT, name), join(this.folder, name), { recursive: true });
    this.install([...Object.keys(manifest.dependencies), ...BUNDLED]);
  }

  /** Removes the links to these packages. */
  uninstall(packages: readonly string[]): void {
    for (const name of packages) rmSync(this.#pathOf(name), { force: true });
  }

  #pathOf(name: string): string {
    return join(this.folder, 'node_modules', name);
  }

  /** Links this checkout's copies of packages. */
  install(packages: readonly string[]): void {
    for (const name of packages) {
      const path = this.#pathOf(name);
      mkdirSync(dirname(path), { recursive: true });
      symlinkSync(join(ROOT, 'node_modules', name), path, 'junction');
    }
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }
}
