/** A student's file: the network as safetensors, with a manifest in the metadata. */
import { sha256 } from '@noble/hashes/sha2';
import { bytesToHex } from '@noble/hashes/utils';
import { type Grader, validateGrader } from '../../engine/graders/grader.js';
import { InputError } from '../../shared/errors.js';
import { follows, MAKE_AGAIN, otherSchema, SCHEMAS } from '../../shared/schemas.js';
import { describe } from '../../shared/values.js';
import { FEATURE_COUNT, FEATURES_VERSION, type Layer, Network, OUTPUT_COUNT } from './network.js';
import { BadTensors, decodeTensors, encodeTensors, type Tensor, type Tensors } from './safetensors.js';

/** What a student's file says about the student. */
export interface StudentManifest {
  /** The version of the package that wrote the file. */
  readonly version: string;
  /** SHA-256 of the numbers of the world that the student was trained in. */
  readonly worldDigest: string;
  /** The version of the network's inputs. */
  readonly featuresVersion: number;
  /** The grader that the student was trained for. */
  readonly grader: Grader;
  /** Options and results of the training: values that JSON can express. */
  readonly training: Readonly<Record<string, unknown>>;
  /** Results on the seeds of the evaluation: values that JSON can express. */
  readonly evaluation: Readonly<Record<string, unknown>>;
}

/** The keys of the metadata. */
const KEYS = [
  'schema',
  'version',
  'world_digest',
  'features_version',
  'grader',
  'training',
  'evaluation',
  'tensors_sha256',
];

/** Returns the bytes of a student's file. */
export function encodeStudent(
  manifest: Omit<StudentManifest, 'featuresVersion'>,
  network: Network,
): Uint8Array {
  const tensors = tensorsOf(network.layers);
  const metadata = {
    schema: JSON.stringify(SCHEMAS.student),
    version: manifest.version,
    world_digest: manifest.worldDigest,
    features_version: String(FEATURES_VERSION),
    grader: JSON.stringify(manifest.grader),
    training: JSON.stringify(manifest.training),
    evaluation: JSON.stringify(manifest.evaluation),
    tensors_sha256: digestOf(tensors),
  };
  return encodeTensors({ tensors, metadata });
}

/** Returns the arrays of a network by their names in files, such as `layers.0.weights`. */
export const tensorsOf = (layers: readonly Layer[], prefix = 'layers'): Record<string, Tensor> =>
  Object.fromEntries(
    layers.flatMap(({ weights, bias }, k) => [
      [`${prefix}.${k}.weights`, { shape: [weights.length / bias.length, bias.length], data: weights }],
      [`${prefix}.${k}.bias`, { shape: [bias.length], data: bias }],
    ]),
  );

/** Returns the SHA-256 of the bytes of all arrays, in the order of the object. */
export function digestOf(tensors: Readonly<Record<string, Tensor>>): string {
  const hash = sha256.create();
  for (const { data } of Object.values(tensors)) {
    hash.update(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
  }
  return bytesToHex(hash.digest());
}

/**
 * Reads a student's file.
 * @throws InputError `bad_student` for damaged bytes, files of other programs, and files with another version of the schema or
 *   the features.
 */
export function decodeStudent(bytes: Uint8Array): { manifest: StudentManifest; network: Network } {
  const file = decode(bytes);
  const manifest = readManifest(file.metadata);
  if (file.metadata.tensors_sha256 !== digestOf(file.tensors)) {
    refuse('the arrays that the manifest describes', 'other arrays', 'Pass an undamaged copy of the file.');
  }
  return { manifest, network: new Network(readLayers(file.tensors)) };
}

function decode(bytes: Uint8Array): Tensors {
  try {
    return decodeTensors(bytes);
  } catch (error) {
    if (!(error instanceof BadTensors)) throw error;
    return refuse("a student's file", `bytes that are not safetensors: ${error.message}`);
  }
}

function refuse(
  expected: string,
  got: string,
  remedy = 'Pass a file that "rhythm-vec train" wrote, complete and unchanged.',
): never {
  throw new InputError('bad_student', { expected, got: got.replace(/\.$/, ''), remedy });
}

function readManifest(metadata: Readonly<Record<string, string>>): StudentManifest {
  if (metadata.schema === undefined) refuse("a student's file", 'safetensors of something else');
  const schema = parse('schema', metadata.schema);
  if (!follows(SCHEMAS.student, schema))
    throw new InputError('bad_student', otherSchema(SCHEMAS.student, schema));
  const missing = KEYS.find((key) => metadata[key] === undefined);
  if (missing !== undefined) refuse(`${missing} in the manifest`, 'none');
  if (metadata.features_version !== String(FEATURES_VERSION))
    refuse(
      `inputs of version ${FEATURES_VERSION}`,
      `version ${describe(metadata.features_version)}`,
      MAKE_AGAIN,
    );
  return {
    version: metadata.version,
    worldDigest: metadata.world_digest,
    featuresVersion: FEATURES_VERSION,
    grader: readGrader(metadata.grader),
    training: readRecord('training', metadata.training),
    evaluation: readRecord('evaluation', metadata.evaluation),
  };
}

function readGrader(text: string): Grader {
  try {
    return validateGrader(parse('grader', text), "the student's manifest");
  } catch (error) {
    if (!(error instanceof InputError) || error.code === 'bad_student') throw error;
    return refuse('a valid grader in the manifest', error.message);
  }
}

function readRecord(key: string, text: string): Readonly<Record<string, unknown>> {
  const value = parse(key, text);
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  return refuse(`an object as ${key} of the manifest`, describe(value));
}

function parse(key: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return refuse(`JSON as ${key} of the manifest`, describe(text));
  }
}

/**
 * Returns the layers of a network from the arrays that `tensorsOf` names.
 * @throws InputError `bad_student` if a student cannot have layers of these shapes, or for NaN and infinities.
 */
export function readLayers(tensors: Readonly<Record<string, Tensor>>, prefix = 'layers'): Layer[] {
  const layers: Layer[] = [];
  let inputs = FEATURE_COUNT;
  for (let k = 0; Object.hasOwn(tensors, `${prefix}.${k}.bias`); k++) {
    const bias = tensors[`${prefix}.${k}.bias`];
    const outputs = bias.data.length;
    const weights = tensors[`${prefix}.${k}.weights`];
    layers.push({
      weights: floatsOf(`${prefix}.${k}.weights`, weights, [inputs, outputs]),
      bias: floatsOf(`${prefix}.${k}.bias`, bias, [outputs]),
    });
    inputs = outputs;
  }
  if (layers.length === 0 || inputs !== OUTPUT_COUNT)
    refuse(
      `layers that end in ${OUTPUT_COUNT} outputs`,
      layers.length === 0 ? 'no layer' : `${inputs} outputs`,
    );
  return layers;
}

function floatsOf(name: string, tensor: Tensor | undefined, shape: readonly number[]): Float32Array {
  const data = tensor?.data;
  if (!(data instanceof Float32Array) || String(tensor!.shape) !== String(shape))
    return refuse(
      `${name} of ${shape.join(' x ')} floats`,
      tensor === undefined
        ? 'none'
        : `${tensor.shape.join(' x ')} ${data instanceof Float32Array ? 'floats' : 'numbers of another type'}`,
    );
  if (data.every(Number.isFinite)) return data;
  return refuse(`finite numbers in ${name}`, 'NaN or an infinity');
}
