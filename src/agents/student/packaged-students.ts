/** The students in the package. What reads and plays them is loaded with the first one. */
import { checkName } from '../../shared/values.js';
import type { Student } from './student.js';

/** `npm run generate` writes the modules from the files in python/rhythm_vec/students. */
const MODULES = {
  'student-v2': () => import('./generated/student-v2.js'),
  'student-v3': () => import('./generated/student-v3.js'),
  'student-v2-clone': () => import('./generated/student-v2-clone.js'),
  'student-v3-clone': () => import('./generated/student-v3-clone.js'),
};
/** A name of STUDENT_NAMES. */
export type StudentName = keyof typeof MODULES;

/** The names of the students in the package. NAME-clone is NAME before the refinement on the engine (docs/students.md). */
export const STUDENT_NAMES = Object.freeze(Object.keys(MODULES)) as readonly StudentName[];

const students = new Map<StudentName, Promise<Student>>();

/** Returns a student of the package. @param name one of STUDENT_NAMES. @throws InputError `unknown_name` or `wrong_type`. */
export async function loadStudent(name: StudentName): Promise<Student> {
  checkName('student', name, STUDENT_NAMES);
  let student = students.get(name);
  if (student === undefined) {
    student = readPackaged(name);
    students.set(name, student);
  }
  return student;
}

async function readPackaged(name: StudentName): Promise<Student> {
  const [{ BASE64 }, { readStudent }] = await Promise.all([MODULES[name](), import('./student.js')]);
  return readStudent(bytesOf(BASE64));
}

const bytesOf = (base64: string): Uint8Array =>
  Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
