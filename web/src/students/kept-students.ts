/**
 * The students that were trained on the page and kept: the browser stores their files, and the views offer them as policies.
 */
import { signal } from '@preact/signals';
import { type Field, oneOf } from '../address.js';
import type { StudentFile } from '../person/episode.js';
import { BY_HAND, NOBODY, PLAYER_NAMES } from '../person/episode.js';
import { readStored, store } from '../storage.js';

const KEY = 'students';
const PATTERN = /^[a-z0-9][a-z0-9-]{0,29}$/;

export const keptStudents = signal<readonly StudentFile[]>(keptBefore());

/** What a name must be, as a noun phrase. */
export const NAME_EXPECTED =
  'at most 30 lowercase letters, digits and hyphens, no hyphen at the start, and not a name that the page itself uses';

/** Returns whether a student may have this name. It may be the name of a kept student, which is then replaced. */
export function isStudentName(name: string): boolean {
  return PATTERN.test(name) && ![...PLAYER_NAMES, BY_HAND, NOBODY].includes(name);
}

/** Returns a name that no kept student has: "my-student", "my-student-2". */
export function freeName(): string {
  for (let k = 1; ; k++) {
    const name = k === 1 ? 'my-student' : `my-student-${k}`;
    if (!keptNames().includes(name)) return name;
  }
}

/** Keeps a student. It replaces one with the same name. */
export const keepStudent = (student: StudentFile): void =>
  setKept([...keptStudents.value.filter(({ name }) => name !== student.name), student]);

/** Deletes a kept student. */
export const forgetStudent = (name: string): void =>
  setKept(keptStudents.value.filter((student) => student.name !== name));

/** Returns the names of the kept students. */
export const keptNames = (): string[] => keptStudents.value.map(({ name }) => name);

/** Returns the kept students with a name: one, or none. */
export const keptUnder = (name: string): readonly StudentFile[] =>
  keptStudents.value.filter((student) => student.name === name);

/** A field for one of `names`, or the name of a kept student. */
export function playerField(initial: string, names: readonly string[]): Field<string> {
  const field = oneOf<string>(initial, names);
  return { ...field, read: (text) => field.read(text) ?? keptUnder(text)[0]?.name ?? null };
}

/** Returns the stored students; [] if the stored text is damaged. */
function keptBefore(): StudentFile[] {
  try {
    const students = JSON.parse(readStored(KEY) ?? '{}') as Record<string, string>;
    return Object.entries(students)
      .filter(([name]) => isStudentName(name))
      .map(([name, text]) => ({ name, file: Uint8Array.from(atob(text), (byte) => byte.charCodeAt(0)) }));
  } catch {
    return [];
  }
}

/** Changes the kept students, and stores their files as base64. */
function setKept(students: readonly StudentFile[]): void {
  keptStudents.value = students;
  const texts = students.map(({ name, file }) => [
    name,
    btoa(Array.from(file, (byte) => String.fromCharCode(byte)).join('')),
  ]);
  store(KEY, JSON.stringify(Object.fromEntries(texts)));
}
