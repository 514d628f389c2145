/**
 * Reads policies from files: students (trained networks), and modules whose default export is a policy or a function that makes
 * one.
 */

import { readFile, stat } from 'node:fs/promises';
import { basename, extname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { builtin } from '../../agents/policies/stepped-policies.js';
import { loadStudent, STUDENT_NAMES } from '../../agents/student/packaged-students.js';
import type { Student } from '../../agents/student/student.js';
import { isPolicy, type PolicyLike } from '../../engine/policy/policy.js';
import type { EvaluateOptions, PolicyRecord } from '../../evaluation/evaluate-options.js';
import { describe } from '../../shared/values.js';
import { UsageError } from '../command-errors.js';

/** A path, such as ./mine.js, mine.ts or student.safetensors, optionally followed by +constant or +inference. */
const FILE = /^(?<path>\.{0,2}\/.*?|.*\.(?:[cm]?[jt]s|safetensors))(?<belief>\+constant|\+inference)?$/;

/** The extension of a student's file. */
const STUDENT = '.safetensors';

/** Returns whether a name of --policies is a path. */
export const isPolicyFile = (name: string): boolean => FILE.test(name);

/** Returns the path of a policy's file, without +constant or +inference. @param name a name that `isPolicyFile` accepts. */
export const pathOfPolicy = (name: string): string => FILE.exec(name)!.groups!.path;

/**
 * Reads the policies of --policies: loads files, and leaves other names as they are. The policy of ./mine.js+constant is named
 * mine+constant.
 * @throws UsageError for a file that cannot be read or loaded or has no policy, and for two policies of one name.
 */
export async function readPolicies(
  names: readonly string[] | undefined,
): Promise<EvaluateOptions['policies']> {
  if (names === undefined || !names.some(isPolicyFile)) return names;
  const policies = new Map<string, PolicyLike | string>();
  for (const each of new Set(names)) {
    const [name, policy] = isPolicyFile(each) ? await readPolicy(each) : [each, each];
    if (policies.has(name)) {
      throw new UsageError(`Expected one policy named ${name}, got a second one: ${each}. Rename the file.`);
    }
    policies.set(name, policy);
  }
  return Object.fromEntries(policies) as PolicyRecord;
}

/**
 * Loads policies from files, and some built-in policies by their names. @returns the policies by name.
 * @param names the names of these policies: by default, the students of the package.
 * @throws UsageError for other names, and as `readPolicies`.
 */
export async function readPolicyFiles(
  paths: readonly string[] = [],
  names: readonly string[] = STUDENT_NAMES,
): Promise<Readonly<Record<string, PolicyLike>>> {
  const name = paths.find((path) => !isPolicyFile(path) && !names.includes(path));
  if (name !== undefined)
    throw new UsageError(
      `Expected the path of a policy, such as ./mine.js, or one of ${names.join(', ')}; got ${name}. Pass a path with its folder, or one of these names.`,
    );
  const policies = paths.length === 0 ? {} : ((await readPolicies(paths)) ?? {});
  const entries = Array.isArray(policies) ? policies.map((each) => [each, each]) : Object.entries(policies);
  return Object.fromEntries(
    entries.map(([key, policy]) => [key, typeof policy === 'string' ? builtin(policy) : policy]),
  );
}

async function readPolicy(text: string): Promise<[string, PolicyLike]> {
  const { path, belief = '' } = FILE.exec(text)!.groups!;
  const policy = extname(path) === STUDENT ? await readAnyStudent(path) : await importPolicy(path);
  const name = `${basename(path, extname(path))}${belief}`;
  if (belief === '') return [name, policy];
  const { withConstant, withInference } = await import('../../agents/policies/with-belief.js');
  return [name, belief === '+constant' ? withConstant(policy) : withInference(policy)];
}

/** Reads a student by its name in this package, or from a file. @throws UsageError that names the file. */
export async function readAnyStudent(path: string): Promise<Student> {
  const name = STUDENT_NAMES.find((each) => each === path);
  if (name !== undefined) return loadStudent(name);
  try {
    const { readStudent } = await import('../../agents/student/student.js');
    return readStudent(new Uint8Array(await readFile(path)));
  } catch (cause) {
    const reason = reasonOf(cause);
    // Errors about the content end with a remedy, and errors of the system do not.
    const remedy = reason.endsWith('.') ? '' : '. Pass a file that rhythm-vec train wrote.';
    throw new UsageError(`Expected a student in the file ${path}, got: ${reason}${remedy}`);
  }
}

/** Imports a policy. A function without parameters returns the policy; any other function is the policy itself. */
async function importPolicy(path: string): Promise<PolicyLike> {
  const file = resolve(path);
  await stat(file).catch((cause) => {
    throw new UsageError(
      `Expected a policy in the file ${path}, got: ${reasonOf(cause)}. Pass an existing file.`,
    );
  });
  const exported = await load(path, async () => (await import(pathToFileURL(file).href)).default);
  const isFactory = typeof exported === 'function' && exported.length === 0;
  const policy = isFactory ? await load(path, exported as () => unknown) : exported;
  if (isPolicy(policy)) return policy;
  throw new UsageError(
    `Expected the default export of ${path} to be a policy, or a function without parameters that makes one; got ` +
      `${isFactory ? 'a function that returned ' : ''}${describe(policy)}. Export an object with the function open, or a ` +
      'function (view) => ({ actions }).',
  );
}

async function load(path: string, run: () => unknown): Promise<unknown> {
  try {
    return await run();
  } catch (cause) {
    const hint = /\.[cm]?ts$/.test(path)
      ? ' For TypeScript, run the command with tsx, or compile the file.'
      : '';
    throw new UsageError(`Expected to load a policy from ${path}, got: ${reasonOf(cause)}.${hint}`);
  }
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : describe(error));
