/** How the page is served while it is written, and built into files that work from any folder. */
import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin } from 'vite';

/**
 * What the built page may load: its own files. Vega makes functions of text, which no page of ours may; it draws in a
 * worker of its own, whose policy is not the page's.
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

/** The development server adds scripts and styles of its own, so only what is built has a policy. */
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

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  // Links beside each other, so that the files work from any folder of any server.
  base: './',
  build: { outDir: 'dist', emptyOutDir: true, target: 'es2022', assetsInlineLimit: 0 },
  worker: { format: 'es' },
  // What the workers load: the development server would find it too late, and reload the page.
  optimizeDeps: {
    include: [
      ...['@humanwhocodes/momoa', '@noble/hashes/sha2', '@noble/hashes/utils', 'crc-32', 'comlink'],
      ...['@stdlib/stats-base-dists-t-quantile', 'vega', 'vega-lite'],
    ],
  },
  plugins: [contentPolicy],
});
