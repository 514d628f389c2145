/** Joins the shaders' files into one text, and finds the file of a line. */
import type { ShaderFile } from './generated/shaders.js';

/** The texts of the shaders, by file. */
export type ShaderTexts = Readonly<Record<ShaderFile, string>>;

/** Returns the program: one module with every kernel. */
export const programText = (texts: ShaderTexts): string => Object.values(texts).join('\n');

/** Returns "FILE:LINE" for a line of the program. Both lines count from 1. */
export function lineOf(texts: ShaderTexts, line: number): string {
  let first = 1;
  for (const [file, text] of Object.entries(texts)) {
    const lines = text.split('\n').length;
    if (line < first + lines) return `${file}:${line - first + 1}`;
    first += lines;
  }
  return `line ${line}`;
}
