/**
 * Reads the anchors of an audit from the file of `--bracket`: the scores of open-loop with its best constant belief and of
 * planner-oracle. A score's share is its place between them: 0 at open-loop, 1 at planner-oracle (evaluation/bracket.ts).
 */
import { createReadStream } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import type { GraderAnchors } from '../../evaluation/audit/read-anchors.js';
import { checkGrader, type GraderInUse, readAnchors } from '../../evaluation/bracket.js';
import { InputError } from '../../shared/errors.js';
import { BadRow, parseJson } from '../../shared/row-schemas.js';
import { packageVersion } from '../../shared/version.js';
import { createWorld } from '../../world/world.js';
import { UsageError } from '../command-errors.js';
import { checkKind, KINDS } from './file-kind.js';
import { checkDifferentFile, checkInput } from './input-file.js';
import { printable } from './lines.js';
import { decodeUtf8, withoutMark } from './utf8.js';

/** The maximum size of an audit in bytes: hundreds of times the usual size. */
const MAX_BYTES = 16 * 2 ** 20;

/** Checks the path of `--bracket` before any work is done. @param outputs the command's output files. @throws UsageError. */
export function checkBracket(
  path: string | undefined,
  outputs: readonly { readonly option: string; readonly path: string }[] = [],
): void {
  if (path === undefined) return;
  if (path === '-') {
    throw new UsageError(
      'Expected --bracket to name a file, got -, the standard input. Write the audit to a file, and pass its name.',
    );
  }
  checkInput('--bracket', path);
  checkKind('--bracket', path, [KINDS.audit]);
  for (const output of outputs) checkDifferentFile(output.option, output.path, '--bracket', path);
}

/**
 * Returns the anchors in an audit's file; null without --bracket.
 * @throws UsageError that names the file; an AbortError after an abort.
 */
export async function readBracket(
  path: string | undefined,
  signal: AbortSignal,
): Promise<GraderAnchors | null> {
  if (path === undefined) return null;
  const bytes = await buffer(createReadStream(path, { end: MAX_BYTES, signal }));
  return naming(path, () => {
    const text = bytes.length > MAX_BYTES ? null : decodeUtf8(bytes);
    if (text === null) {
      const got = bytes.length > MAX_BYTES ? 'more' : 'other bytes';
      throw new BadRow(
        `Expected UTF-8 of at most ${MAX_BYTES} bytes, got ${got}. Pass the JSON of audit --json.`,
      );
    }
    const settings = { version: packageVersion(), worldDigest: createWorld().digest };
    return readAnchors(parseJson(withoutMark(text)), settings);
  });
}

/** Checks that the anchors of a file are of a grader in use. @throws UsageError that names the file. */
export function checkBracketGrader(
  path: string | undefined,
  anchors: GraderAnchors | null,
  used: readonly GraderInUse[],
): void {
  if (path !== undefined && anchors !== null) naming(path, () => checkGrader(anchors, used));
}

/** Calls `read`, and names the file in its errors. */
function naming<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof BadRow || error instanceof InputError)
      throw new UsageError(`--bracket ${path}: ${printable(error.message)}`);
    throw error;
  }
}
