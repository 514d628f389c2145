/**
 * Students' files: a written file is read unchanged; invalid files and other worlds are refused. The students of the package
 * score what their files and docs/students.md say.
 */
import { readFileSync, statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  FEATURE_COUNT,
  FEATURES_VERSION,
  Network,
  OUTPUT_COUNT,
} from '../../../src/agents/student/network.js';
import { loadStudent, STUDENT_NAMES } from '../../../src/agents/student/packaged-students.js';
import { decodeTensors, encodeTensors } from '../../../src/agents/student/safetensors.js';
import { readStudent } from '../../../src/agents/student/student.js';
import { encodeStudent } from '../../../src/agents/student/student-file.js';
import { toGrader } from '../../../src/engine/graders/grader.js';
import { builtin, evaluate } from '../../../src/index.js';
import { createWorld } from '../../../src/world/world.js';
import { expectRefusal } from '../../support/refusals.js';

const NETWORK = new Network([
  {
    weights: Float32Array.from({ length: FEATURE_COUNT * OUTPUT_COUNT }, (_, k) => Math.sin(k)),
    bias: Float32Array.from({ length: OUTPUT_COUNT }, (_, k) => Math.cos(k)),
  },
]);
const MANIFEST = {
  version: '0.3.0',
  worldDigest: createWorld().digest,
  grader: toGrader('v2'),
  training: { seed: 7 },
  evaluation: {},
};
const BYTES = encodeStudent(MANIFEST, NETWORK);

it('readStudent returns what encodeStudent wrote', () => {
  // A Buffer, because it may be a part of a larger ArrayBuffer.
  const { manifest, network } = readStudent(Buffer.concat([BYTES]));
  expect(manifest).toEqual({ ...MANIFEST, featuresVersion: FEATURES_VERSION });
  expect(network.layers).toEqual(NETWORK.layers);
});

it('readStudent returns all layers of a deep network', () => {
  const layers = Array.from({ length: 12 }, (_, k) => ({
    weights: new Float32Array((k === 0 ? FEATURE_COUNT : OUTPUT_COUNT) * OUTPUT_COUNT).fill(k),
    bias: new Float32Array(OUTPUT_COUNT).fill(-k),
  }));
  expect(readStudent(encodeStudent(MANIFEST, new Network(layers))).network.layers).toEqual(layers);
});

it('readStudent refuses a file that is cut off, at many lengths', () => {
  for (let length = 0; length < BYTES.length; length += 97) {
    expectRefusal(() => readStudent(BYTES.slice(0, length)), 'bad_student', "a student's file");
  }
});

it('readStudent refuses a file with a changed byte among the arrays', () => {
  for (const distance of [1, 100, 2000]) {
    const bytes = BYTES.slice();
    bytes[bytes.length - distance] ^= 1;
    expectRefusal(() => readStudent(bytes), 'bad_student', 'Pass an undamaged copy');
  }
});

it('readStudent refuses safetensors of other programs, and a network of another shape', () => {
  const other = encodeTensors({ tensors: decodeTensors(BYTES).tensors, metadata: { format: 'pt' } });
  expectRefusal(() => readStudent(other), 'bad_student', 'safetensors of something else');
  const small = new Network([{ weights: new Float32Array(FEATURE_COUNT * 4), bias: new Float32Array(4) }]);
  expectRefusal(() => readStudent(encodeStudent(MANIFEST, small)), 'bad_student', `${OUTPUT_COUNT} outputs`);
});

it.each([
  [
    'schema',
    '{"name":"rhythm-vec/student","version":2}',
    'version 1, got "rhythm-vec/student" version 2. Make',
  ],
  ['features_version', String(FEATURES_VERSION + 1), `"${FEATURES_VERSION + 1}". Make it again`],
  ['grader', '{"name":"v2"}', 'manifest'],
  ['training', '[]', 'manifest'],
  ['evaluation', '{', 'manifest'],
])(
  'readStudent refuses a manifest of another version or with an invalid field: %s',
  (key, value, mention) => {
    const { tensors, metadata } = decodeTensors(BYTES);
    const changed = encodeTensors({ tensors, metadata: { ...metadata, [key]: value } });
    expectRefusal(() => readStudent(changed), 'bad_student', mention);
  },
);

it('a student refuses to play in another world', () => {
  const student = readStudent(encodeStudent({ ...MANIFEST, worldDigest: '0'.repeat(64) }, NETWORK));
  const setting = { numEnvs: 1, grader: toGrader('v2'), world: createWorld() };
  expectRefusal(() => student.open(setting), 'bad_student', 'the world');
});

it('a student refuses illegal steps and actions in observations, and ignores episodes that are not playing', () => {
  const player = readStudent(BYTES).open({ numEnvs: 2, grader: toGrader('v2'), world: createWorld() });
  const view = (step: number, action: number, playing = 1) => {
    const observations = new Float32Array(44);
    observations.set([step, 0, 0, 0, 0.5, 0.5, 0.5, 0.5, 0.5, -1, action], 22);
    return { observations, playing: Uint8Array.of(1, playing), steps: new Uint8Array(2) };
  };
  for (const [step, action] of [
    [28, 1],
    [-1, 1],
    [1.5, 1],
    [Number.NaN, 1],
    [1, -1],
    [1, 10],
  ]) {
    expectRefusal(() => player.act(view(step, action)), 'out_of_range', 'steps 0 to 27');
    expect([...player.act(view(step, action, 0)).beliefs.subarray(3)]).toEqual([0.5, 0.5, 0.5]);
  }
});

const page = readFileSync(new URL('../../../docs/students.md', import.meta.url), 'utf8');

it('all students together take less than 1 MB of the package, as files and as modules', () => {
  const at = (path: string) => new URL(`../../../${path}`, import.meta.url);
  const paths = STUDENT_NAMES.flatMap((name) => [
    at(`python/rhythm_vec/students/${name}.safetensors`),
    at(`src/agents/student/generated/${name}.ts`),
  ]);
  expect(paths.reduce((sum, path) => sum + statSync(path).size, 0)).toBeLessThan(1e6);
});

describe.each(STUDENT_NAMES)('%s', (name) => {
  it('scores what its file and docs/students.md say', async () => {
    const { manifest } = await loadStudent(name);
    expect(manifest.worldDigest).toBe(createWorld().digest);
    expect(name).toContain(`-${manifest.grader.name}`);
    const { grader, evaluation } = manifest;
    const { rows } = await evaluate({ policies: [name], grader, conditions: ['in-distribution', 'ood'] });
    const results = rows.map(({ condition, episodes, finalScore, beliefMae }) => [
      condition,
      { episodes, finalScore: finalScore.mean, beliefMae },
    ]);
    expect(Object.fromEntries(results)).toEqual(evaluation);
    const [row] = page.split('\n').filter((line) => line.startsWith(`| \`${name}\` |`));
    for (const { finalScore, beliefMae } of rows) {
      expect(row).toContain(finalScore.mean.toFixed(3));
      expect(row).toContain(beliefMae.toFixed(3));
    }
  });

  it('is the built-in policy of its name, and gives reasons', async () => {
    const policy = builtin(name);
    expect(policy).toMatchObject({ name, belief: 'own', usesHiddenState: false });
    const { grader } = (await loadStudent(name)).manifest;
    const player = await policy.open({ numEnvs: 1, grader, world: createWorld() });
    const playing = Uint8Array.of(1);
    await player.act({ observations: new Float32Array(22), steps: new Uint8Array(1), playing });
    expect(await player.reasons?.(0)).toMatch(/^A trained network estimates social \d\.\d\d ± /);
  });
});
