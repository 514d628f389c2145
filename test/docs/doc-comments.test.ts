/** Checks that every export has a doc comment. The reference is generated from these comments. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const SRC = new URL('../../src/', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, SRC), 'utf8');

/** Returns the names that a file re-exports, each with the file that it comes from. */
function exportsOf(path: string): [name: string, file: string][] {
  const lists = read(path).matchAll(/^export (?:type )?\{([^}]*)\} from '((?:\.\.?\/)+.*)\.js';$/gm);
  return Array.from(lists, ([, list, file]) => {
    const names = list.split(',').map((name) => name.replace('type ', '').trim());
    const declaring = new URL(`${file}.ts`, new URL(path, SRC)).href.slice(SRC.href.length);
    return names.filter((name) => name !== '').map((name): [string, string] => [name, declaring]);
  }).flat();
}

/** Returns the comment directly above a declaration; null without one. */
function commentOf(name: string, text: string): string | null {
  const declaration = new RegExp(
    `^export (?:abstract |async )?(?:class|const|function\\*?|interface|type) ${name}\\b`,
    'm',
  );
  const at = declaration.exec(text)?.index;
  if (at === undefined) return null;
  const above = text.slice(0, at);
  const comment = above.endsWith('*/\n') ? above.slice(above.lastIndexOf('/**')) : null;
  return comment?.replace(/^\/\*\*|\*\/|^ \*/gm, '').trim() ?? null;
}

/** Returns the file that declares a name: `file`, or the file from which `file` re-exports the name. */
const declaredIn = (name: string, file: string): string => {
  const [, source] = exportsOf(file).find(([each]) => each === name) ?? [];
  return source ?? file;
};

// The files of exports/browser export names that the files for Node export too.
const PATHS = readdirSync(new URL('exports/', SRC), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !path.startsWith('browser'))
  .map((path) => `exports/${path}`);

describe.each(PATHS)('%s', (path) => {
  const exports = exportsOf(path);

  it('has exports', () => {
    expect(exports).not.toEqual([]);
  });

  it.each(exports)('%s has a doc comment', (name, file) => {
    expect(commentOf(name, read(declaredIn(name, file)))).toMatch(/^[A-Z'`a-z].{9,}?[.:;]/s);
  });
});

it('commentOf returns the comment directly above a declaration, and null without one', () => {
  expect(commentOf('Bare', '/** Another. */\nexport type Other = 1;\nexport type Bare = 2;\n')).toBeNull();
  expect(commentOf('Other', '/** Another thing. */\nexport type Other = 1;\n')).toBe('Another thing.');
});
