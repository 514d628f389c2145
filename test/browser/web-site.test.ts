/** Tests the files of the built page: relative links, and the content security policy. */
import { beforeAll, expect, inject, it } from 'vitest';
import { Site } from '../support/web/site.js';

let site: Site;
let html: string;
beforeAll(async () => {
  site = await Site.at(inject('site'));
  html = await site.read('index.html');
}, 90_000);

it('links only to files in its own folder', async () => {
  const names = Array.from(html.matchAll(/(?:src|href)="([^"]*)"/g), ([, name]) => name);
  expect(names.length).toBeGreaterThan(2);
  for (const name of names) {
    expect(name).toMatch(/^\.\/assets\//);
    expect((await site.read(name)).length).toBeGreaterThan(100);
  }
});

it('has a content security policy without other sites, inline code or eval', () => {
  const [, policy] = /Content-Security-Policy" content="([^"]*)"/.exec(html)!;
  const rules = policy.replaceAll('&#39;', "'").split('; ');
  expect(rules).toContain("default-src 'none'");
  expect(rules).toContain("script-src 'self'");
  expect(policy).not.toMatch(/unsafe|\*|http/);
  expect(html.indexOf('Content-Security-Policy')).toBeLessThan(html.indexOf('<script'));
});

it('has no inline script or style, which the policy would refuse', () => {
  expect(html).not.toMatch(/<style|<script(?![^>]*\ssrc=)|\sstyle=|\son\w+=/);
});

it('has a text that explains what the page needs, shown if its files cannot be loaded', () => {
  expect(html).toMatch(/<div id="page">\s*<p>[^<]*opened from the disk[^<]*web server[^<]*<\/p>/);
});

it('has a title and a picture of 1200 x 630 pixels for services that show links', async () => {
  expect(html).toContain('property="og:title" content="Everyone responds differently.');
  const [, image] = /property="og:image" content="([^"]*)"/.exec(html)!;
  const bytes = new DataView(await (await fetch(site.at(image))).arrayBuffer());
  // The size in the header of a PNG.
  expect([bytes.getUint32(16), bytes.getUint32(20)]).toEqual([1200, 630]);
});
