/** Builds the site: generates the reference, gathers the pages, renders them, adds the demo page and checks internal links. */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkLinks } from './check-links.js';

const DOCS = dirname(fileURLToPath(import.meta.url));
const ROOT = dirname(DOCS);
/** The gathered sources of the pages. */
const PAGES = join(DOCS, '.site');
/** The built site. */
const SITE = join(DOCS, '.vitepress/dist');

/** The pages of the folder python. */
const PYTHON_PAGES = ['python', 'python/recipe', 'python/rhythm_vec_env'].map(
  (folder) => `${folder}/README.md`,
);

const run = (command: string, ...args: string[]) =>
  execFileSync(command, args, { cwd: DOCS, stdio: 'inherit' });

/** Runs a tool of the docs package. */
const runTool = (name: string, ...args: string[]) => run(join(DOCS, 'node_modules/.bin', name), ...args);

/** Copies the pages and their pictures into PAGES. Each keeps its path in the repository, so that relative links hold. */
function gatherPages(): void {
  const names = readdirSync(DOCS, { recursive: true, encoding: 'utf8' });
  const files = names
    .filter((name) => /^((guides\/)?[\w-]+\.md|[\w-]+\.svg)$/.test(name))
    .map((name) => `docs/${name}`);
  for (const file of ['README.md', ...PYTHON_PAGES, ...files]) {
    mkdirSync(join(PAGES, dirname(file)), { recursive: true });
    cpSync(join(ROOT, file), join(PAGES, file));
  }
  cpSync(join(DOCS, 'audits'), join(PAGES, 'docs/audits'), { recursive: true });
  addPlayButton(join(PAGES, 'README.md'));
}

/** A link to the demo page, which is not a page of VitePress, so the browser loads it. */
const PLAY_BUTTON = `<p><a class="play" href="page/index.html" target="_self">Play a week with a stranger</a></p>

<style>
.vp-doc a.play {
  display: inline-block;
  padding: 0.6rem 1.4rem;
  border-radius: 8px;
  background: var(--vp-button-brand-bg);
  color: var(--vp-button-brand-text);
  text-decoration: none;
}
.vp-doc a.play:hover {
  background: var(--vp-button-brand-hover-bg);
}
</style>
`;

/** Adds the button below the picture at the head of the first page. @throws Error if the page has no picture there. */
function addPlayButton(page: string): void {
  const text = readFileSync(page, 'utf8');
  const withButton = text.replace(/^(# .*\n\n!\[.*\n)/, `$1\n${PLAY_BUTTON}`);
  if (withButton === text) throw new Error(`Expected a headline and a picture at the head of ${page}.`);
  writeFileSync(page, withButton);
}

/** Builds the demo page into the folder `page` of the site. */
function buildPage(): void {
  execFileSync('npx', ['vite', 'build', 'web', '--outDir', join(SITE, 'page'), '--logLevel', 'warn'], {
    cwd: ROOT,
    stdio: 'inherit',
    env: { ...process.env, RHYTHM_DOCS_URL: '../' },
  });
}

try {
  if (!existsSync(join(DOCS, 'node_modules'))) run('npm', 'ci', '--no-audit', '--no-fund');
  rmSync(PAGES, { recursive: true, force: true });
  // Checks the types of the programs in docs.
  runTool('tsc', '-p', '.');
  runTool('typedoc');
  gatherPages();
  runTool('vitepress', 'build');
  buildPage();
  console.log(checkLinks(SITE));
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}
