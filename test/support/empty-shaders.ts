/** Shaders that do nothing, for Node and pages. */
import { SHADER_TEXTS, type ShaderFile } from '../../src/engine/backends/webgpu/generated/shaders.js';
import type { ShaderTexts } from '../../src/engine/backends/webgpu/shaders.js';

const ENTRY_POINTS = [
  'reset',
  'step',
  'run',
  'reset_after_step',
  'save',
  'load',
  'hash',
  'targets',
  'gather',
];

/**
 * Shaders that do nothing and compile in milliseconds, for tests that do not depend on results. A device that runs them is
 * inexact.
 */
export const EMPTY_SHADERS: ShaderTexts = {
  ...(Object.fromEntries(Object.keys(SHADER_TEXTS).map((file) => [file, ''])) as Record<ShaderFile, string>),
  'bindings.wgsl': [
    'override workgroup_size: u32 = 64; override records: bool = false;',
    ...ENTRY_POINTS.map((name) => `@compute @workgroup_size(workgroup_size) fn ${name}() {}`),
  ].join('\n'),
};
