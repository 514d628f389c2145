import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: { alias: { 'rhythm-vec': fileURLToPath(new URL('src/index.ts', import.meta.url)) } },
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/web/shared.ts',
    testTimeout: 120_000,
    // As long as a page is waited for elsewhere, on a processor that others use, too: see test/web/visit.ts.
    expect: { poll: { timeout: 90_000 } },
  },
});
