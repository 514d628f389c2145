/** The page as files: they find each other in any folder, and may load nothing else. */
import { beforeAll, expect, inject, it } from 'vitest';
import { Site } from './web/site.js';

let site: Site;
let html: string;
beforeAll(async () => {
  site = await Site.at(inject('site'));
  html = await site.read('index.html');
}, 90_000);

it('every file that it names lies beside it', async () => {
  const names = Array.from(html.matchAll(/(?:src|href)="([^"]*)"/g), ([, name]) => name);
  expect(names.length).toBeGreaterThan(2);
  for (const name of names) {
    expect(name).toMatch(/^\.\/assets\//);
    expect((await site.read(name)).length).toBeGreaterThan(100);
  }
});

it('has a policy that lets it run and load what is its own, and make no code of text', () => {
  const [, policy] = /Content-Security-Policy" content="([^"]*)"/.exec(html)!;
  const rules = policy.replaceAll('&#39;', "'").split('; ');
  expect(rules).toContain("default-src 'none'");
  expect(rules).toContain("script-src 'self'");
  expect(policy).not.toMatch(/unsafe|\*|http/);
  expect(html.indexOf('Content-Security-Policy')).toBeLessThan(html.indexOf('<script'));
});

it('has no script or style in its text, which the policy would refuse', () => {
  expect(html).not.toMatch(/<style|<script(?![^>]*\ssrc=)|\sstyle=|\son\w+=/);
});

it('says in its own text what it needs, for where none of its files may be loaded', () => {
  expect(html).toMatch(/<div id="page">\s*<p>[^<]*opened from the disk[^<]*web server[^<]*<\/p>/);
});
