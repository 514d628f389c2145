/** Converts the links of Markdown files to links of the site, and links the names of exports to the reference. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import type { MarkdownRenderer } from 'vitepress';

type Token = NonNullable<ReturnType<MarkdownRenderer['parse']>[number]['children']>[number];

/** Variables on which the pages call methods, with their classes. A method of both classes of `env` links to VecEnv. */
const INSTANCES = [
  ['env', 'AsyncVecEnv'],
  ['env', 'VecEnv'],
  ['planner', 'Planner'],
  ['inference', 'Inference'],
] as const;

/** Returns the URLs of the reference by the names that pages use: "StepResult", "evaluate(", "env.step(". */
function urlsOf(reference: string): Map<string, string> {
  const urls = new Map<string, string>();
  const files = readdirSync(reference, { recursive: true, encoding: 'utf8' });
  // SUBPATH/KIND/NAME.md, such as env/functions/createVecEnv.md.
  for (const file of files.filter((file) => /\/.*\/.*\.md$/.test(file))) {
    const [, kind, name] = file.slice(0, -'.md'.length).split('/');
    urls.set(kind === 'functions' ? `${name}(` : name, `/docs/reference/${file.slice(0, -'.md'.length)}`);
  }
  for (const [variable, type] of INSTANCES) {
    const url = urls.get(type)!;
    const page = readFileSync(join(reference, `${url.replace('/docs/reference/', '')}.md`), 'utf8');
    for (const [, method] of page.matchAll(/^### (\w+)\(\)$/gm)) {
      urls.set(`${variable}.${method}(`, `${url}#${method.toLowerCase()}`);
    }
  }
  return urls;
}

/**
 * Returns the link of the site for a link of a page; null for a file with an extension other than `.md`.
 * @param page the path of the page, such as "docs/world.md". @param href the link, such as "../README.md#results".
 */
function siteLink(page: string, href: string): string | null {
  if (/^(\w+:|#)/.test(href)) return href;
  const [path, anchor] = href.split('#');
  const target = posix.join(posix.dirname(page), path);
  if (target === 'README.md') return anchor === undefined ? '/' : `/#${anchor}`;
  return /\.md$|^[^.]*$/.test(target) ? href : null;
}

/**
 * Adapts the links of pages to the site. Outside headings and links, a code span that names an export becomes a link to
 * the reference, once in each section. A link to a file with an extension other than `.md` becomes text. The pages of the
 * reference are left as they are.
 * @param reference the folder of the generated pages.
 */
export function linkReference(md: MarkdownRenderer, reference: string): void {
  const urls = urlsOf(reference);
  const urlOf = (code: string) => urls.get(/^[\w.]+\(?/.exec(code)?.[0] ?? '');
  md.core.ruler.push('link-reference', ({ tokens, env, Token }) => {
    // A title in the front matter is rendered without a page.
    const page: string | undefined = env.relativePath;
    if (page === undefined || page.startsWith('docs/reference/')) return;
    const link = (token: Token, url: string): Token[] => {
      const open = new Token('link_open', 'a', 1);
      open.attrSet('href', url);
      return [open, token, new Token('link_close', 'a', -1)];
    };
    let linked = new Set<string>();
    tokens.forEach((block, at) => {
      if (block.type === 'heading_open') linked = new Set();
      if (block.type !== 'inline' || tokens[at - 1]?.type === 'heading_open') return;
      // The targets of the links around the token; null for a link that becomes text.
      const open: (string | null)[] = [];
      block.children = block.children!.flatMap((token) => {
        if (token.type === 'link_open') {
          const href = siteLink(page, token.attrGet('href')!);
          open.push(href);
          if (href === null) return [];
          token.attrSet('href', href);
        } else if (token.type === 'link_close') {
          return open.pop() === null ? [] : [token];
        } else if (token.type === 'code_inline' && open.length === 0) {
          const url = urlOf(token.content);
          if (url === undefined || linked.has(url)) return [token];
          linked.add(url);
          return link(token, url);
        }
        return [token];
      });
    });
  });
}
