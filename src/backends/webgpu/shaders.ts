/** The shaders' files in the order of their text, and the lines of one among them. */
import type { ShaderFile } from './generated/shaders.js';

export type ShaderTexts = Readonly<Record<ShaderFile, string>>;

/** The whole program: one module with every kernel. */
export const programText = (texts: ShaderTexts): string => Object.values(texts).join('\n');

/** A line of the program (from 1) as its file and the line in it. */
export function lineOf(texts: ShaderTexts, line: number): string {
  let first = 1;
  for (const [file, text] of Object.entries(texts)) {
    const lines = text.split('\n').length;
    if (line < first + lines) return `${file}:${line - first + 1}`;
    first += lines;
  }
  return `line ${line}`;
}
