/** The students of the package play alike in Python and in TypeScript, bit for bit, in all evaluation episodes. */
import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { loadStudent, STUDENT_NAMES } from '../../src/agents/student/shipped-students.js';
import { encodeStudent } from '../../src/agents/student/student-file.js';
import { temporaryDirectory } from '../support/cli.js';
import { askPython, whyAbsent } from '../support/python.js';
import { EVALUATION_SEEDS, playStudent } from '../support/student-episodes.js';

const SCRIPT = 'package/student.py';
const pathOf = temporaryDirectory();

interface Answer {
  readonly actions: string;
  readonly beliefs: string;
}

const play = (students: readonly string[], seeds: readonly number[]): Answer[] =>
  askPython<Answer[]>(SCRIPT, { students, seeds });

const absent = whyAbsent('rhythm-vec', '(npm run test:python-package)', SCRIPT, { students: [], seeds: [1] });

describe.skipIf(absent !== null)(
  `students in the Python package${absent === null ? '' : ` (skipped: ${absent})`}`,
  () => {
    it('take the same actions and state the same beliefs as in TypeScript, bit for bit', async () => {
      const answers = play(STUDENT_NAMES, EVALUATION_SEEDS);
      for (const [k, name] of STUDENT_NAMES.entries()) {
        const { actions, beliefs } = await playStudent(name, EVALUATION_SEEDS);
        expect(answers[k].actions).toBe(Buffer.from(actions).toString('base64'));
        const floats = Float32Array.from(beliefs);
        expect(answers[k].beliefs).toBe(Buffer.from(floats.buffer).toString('base64'));
      }
    });

    it('are read from files, and damaged files and files of newer releases are refused', async () => {
      const { manifest, network } = await loadStudent(STUDENT_NAMES[0]);
      const bytes = encodeStudent(manifest, network);
      const write = (name: string, content: Uint8Array | string): string => {
        writeFileSync(pathOf(name), content);
        return pathOf(name);
      };
      expect(play([write('whole.safetensors', bytes)], [7])).toEqual(play([STUDENT_NAMES[0]], [7]));
      const changed = bytes.slice();
      changed[changed.length - 100] ^= 1;
      const newer = Buffer.from(bytes)
        .toString('latin1')
        .replace('"features_version":"1"', '"features_version":"2"');
      for (const [content, message] of [
        [changed, 'Pass an undamaged copy'],
        [bytes.slice(0, 500), 'complete and unchanged'],
        ['no student', 'complete and unchanged'],
        [Buffer.from(newer, 'latin1'), 'Use the release that wrote the file'],
      ] as const) {
        expect(() => play([write('bad.safetensors', content)], [7])).toThrow(message);
      }
    });
  },
);
