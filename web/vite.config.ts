/** Configures the development server and the build of the page. The built files work from any folder. */
import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin } from 'vite';

/**
 * The content security policy of the built page: it may load its own files only. Vega compiles functions from text, which
 * the policy forbids, so it runs in a worker without this policy.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "worker-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

/** Adds the policy to the built page only: the development server adds inline scripts and styles. */
const contentPolicy: Plugin = {
  name: 'content-policy',
  apply: 'build',
  transformIndexHtml: () => [
    {
      tag: 'meta',
      attrs: { 'http-equiv': 'Content-Security-Policy', content: POLICY },
      injectTo: 'head-prepend',
    },
  ],
};

/** Replaces the backends of Node by those of browsers, for the planners. */
const PLATFORM = {
  find: /^(\.\.\/)+engine\/backends\/node\.js$/,
  replacement: fileURLToPath(new URL('src/workers/platform.ts', import.meta.url)),
};

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  resolve: { alias: [PLATFORM] },
  // Relative links, so that the files work from any folder of any server.
  base: './',
  build: { outDir: 'dist', emptyOutDir: true, target: 'es2022', assetsInlineLimit: 0 },
  worker: { format: 'es' },
  // Dependencies of the workers. The development server would find them late, and reload the page.
  optimizeDeps: {
    include: [
      ...['@noble/hashes/sha2', '@noble/hashes/utils', 'crc-32', 'comlink'],
      ...['vega', 'vega-lite'],
    ],
  },
  plugins: [contentPolicy],
});
