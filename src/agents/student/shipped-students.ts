/** The students that the package contains. Each is a module of its own, which is imported when the student is loaded. */
import { checkName } from '../../shared/values.js';
import { readStudent, type Student } from './student.js';

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
    student = MODULES[name]().then(({ BASE64 }) => readStudent(bytesOf(BASE64)));
    students.set(name, student);
  }
  return student;
}

const bytesOf = (base64: string): Uint8Array =>
  Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
