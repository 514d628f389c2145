/** A copy of this package as it is installed: compiled, with its dependencies and without the optional ones. */
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

export const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest;

export class BarePackage {
  readonly folder = mkdtempSync(join(tmpdir(), 'rhythm-'));

  constructor() {
    // A copy: through a link, Node would find this checkout's packages.
    for (const name of ['dist', 'package.json'])
      cpSync(join(ROOT, name), join(this.folder, name), { recursive: true });
    this.install(Object.keys(manifest.dependencies));
  }

  install(packages: readonly string[]): void {
    for (const name of packages) {
      const place = join(this.folder, 'node_modules', name);
      mkdirSync(dirname(place), { recursive: true });
      symlinkSync(join(ROOT, 'node_modules', name), place, 'junction');
    }
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }
}
