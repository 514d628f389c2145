/** Configures the development server and the build of the page. The built files work from any folder. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin } from 'vite';

/** The content security policy of the built page, which may load only its own files, and images from `data:` URLs. */
const POLICY = [
  "default-src 'none'",
  // Compiling WebAssembly counts as evaluating code; this allows nothing else.
  "script-src 'self' 'wasm-unsafe-eval'",
  "worker-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

/**
 * The title, text and picture that services show for a link to the page. The environment variable `RHYTHM_PAGE_URL` is the
 * page's address, with a slash at the end: services need the whole address of the picture.
 */
const PREVIEW = {
  'og:type': 'website',
  'og:title': 'Everyone responds differently. Find out who this is in one week.',
  'og:description': 'Play a week with a stranger, or watch a crowd, computed in your own browser.',
  'og:image': `${process.env.RHYTHM_PAGE_URL ?? './'}preview.png`,
  'og:image:width': '1200',
  'og:image:height': '630',
  'og:image:alt':
    'One week of the same person, played by the heuristic and by the planner, whose belief approaches the truth.',
};

/** Adds the preview and the policy to the built page, but not in the development server, which adds inline scripts and styles. */
const metaTags: Plugin = {
  name: 'meta-tags',
  apply: 'build',
  transformIndexHtml: () => [
    {
      tag: 'meta',
      attrs: { 'http-equiv': 'Content-Security-Policy', content: POLICY },
      injectTo: 'head-prepend',
    },
    ...Object.entries(PREVIEW).map(([property, content]) => ({
      tag: 'meta',
      attrs: { property, content },
      injectTo: 'head' as const,
    })),
    { tag: 'meta', attrs: { name: 'twitter:card', content: 'summary_large_image' }, injectTo: 'head' },
  ],
};

/**
 * Builds workers as entries of the page, so that they and the page share chunks. Vite would bundle each worker by itself. A
 * module starts a worker with `new Worker(new URL('./worker.ts', import.meta.url), ...)`.
 */
const sharedWorkers: Plugin = {
  name: 'shared-workers',
  apply: 'build',
  enforce: 'pre',
  transform(code, id) {
    if (!code.includes('new Worker(new URL(')) return null;
    return code.replace(/new URL\('(\.[^']+)', import\.meta\.url\)/g, (_, path: string) => {
      const reference = this.emitFile({ type: 'chunk', id: resolve(id, '..', path) });
      return `import.meta.ROLLUP_FILE_URL_${reference}`;
    });
  },
};

/** Chunks that workers share with each other, and with the page. Without these groups there are dozens of small chunks. */
const GROUPS = [
  {
    ...{ name: 'world', priority: 2 },
    test: /\/src\/(world|shared|engine\/graders)\/(?!.*schemas|parse-grader)|reference\/rules|validate\/steps|engine-calls|spelling|fixed-policies|workers\/calls|person\/episode\.|sizes|comlink|packaged-students/,
  },
  {
    name: 'engine',
    test: /\/src\/engine\/(backends|vec-env)\/(?!webgpu)|\/workers\/(platform|wasm)|\/student\/student\./,
  },
];

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

/** Returns the mean final scores of an audit, by policy. */
function auditedScores(grader: string) {
  const file = new URL(`../docs/audits/${grader}/audit.json`, import.meta.url);
  const { rows } = JSON.parse(readFileSync(file, 'utf8')) as {
    rows: readonly { readonly policy: string; readonly final_score: { readonly mean: number } }[];
  };
  return Object.fromEntries(rows.map(({ policy, final_score }) => [policy, final_score.mean]));
}

const AUDITED_SCORES = Object.fromEntries(
  ['v1', 'v2', 'v3'].map((grader) => [grader, auditedScores(grader)]),
);

/** Replaces modules of src with modules of the page: the backends, and the engine in base64, which workers load as a file. */
const REPLACED = [
  [/^(\.\.?\/)+(engine\/)?backends\/node\.js$/, 'src/workers/platform.ts'],
  [/^\.\/generated\/binary\.js$/, 'src/workers/no-binary.ts'],
] as const;
const alias = REPLACED.map(([find, file]) => ({
  find,
  replacement: fileURLToPath(new URL(file, import.meta.url)),
}));

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  resolve: { alias },
  // Relative links, so that the files work from any folder of any server.
  base: './',
  // Addresses of the documentation and the sources, for links.
  define: {
    DOCS_URL: JSON.stringify(process.env.RHYTHM_DOCS_URL ?? null),
    SOURCE_URL: JSON.stringify(process.env.RHYTHM_SOURCE_URL ?? null),
    // For the files of students.
    RHYTHM_VERSION: JSON.stringify(version),
    // For the sequence editor.
    AUDITED_SCORES: JSON.stringify(AUDITED_SCORES),
  },
  build: {
    ...{ outDir: 'dist', emptyOutDir: true, target: 'es2022', assetsInlineLimit: 0 },
    rolldownOptions: { output: { codeSplitting: { groups: GROUPS } } },
    modulePreload: {
      polyfill: false,
      // A dynamic import preloads nothing: that needs a document, which workers do not have.
      resolveDependencies: (_file, dependencies, { hostType }) => (hostType === 'html' ? dependencies : []),
    },
  },
  worker: { format: 'es' },
  // Dependencies of the workers. If they were not listed, the development server would find them late and reload the page.
  optimizeDeps: {
    include: ['@noble/hashes/sha2', '@noble/hashes/utils', 'crc-32', 'comlink', 'seedrandom', '@jax-js/jax'],
  },
  plugins: [metaTags, sharedWorkers],
});
