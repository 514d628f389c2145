/** Vitest's configuration for mutants. Mutants are in `src`, so the tests load `src` instead of `dist`. */
import { statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Runs small files first: the first failure ends a run, and large files have the long tests. */
class SmallFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const size = (file: TestSpecification): number => statSync(file.moduleId).size;
    return [...files].sort((a, b) => size(a) - size(b));
  }
}

export default defineConfig({
  resolve: { alias: { 'rhythm-vec': fileURLToPath(new URL('../src/index.ts', import.meta.url)) } },
  test: {
    include: ['test/**/*.test.ts'],
    // The tests in the last entry compare engines and take long. The others run compiled code in other processes or threads,
    // or need a device.
    exclude: [
      'test/engine/backends/webgpu/**',
      'test/engine/backends/addon-{missing,fallback}.test.ts',
      'test/engine/vec-env/{allocation,out-of-memory,worker-threads}.test.ts',
      'test/server/memory.test.ts',
      'test/engine/{metamorphic,mutation,changed-world}.test.ts',
    ],
    setupFiles: 'test/support/typed-arrays.ts',
    // Instrumented code parses some twenty times as slowly.
    testTimeout: 600_000,
    // As in vitest.config.ts.
    expect: { poll: { timeout: 90_000 } },
    isolate: false,
    sequence: { sequencer: SmallFirst },
    // Without the addon most tests would be skipped, and pass.
    env: { RHYTHM_SKIP: 'webgpu', RHYTHM_REQUIRE: 'native' },
  },
});
