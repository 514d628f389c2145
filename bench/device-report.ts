/** Formats the figures of a device, as text and for the JSON file. */
import type { DeviceFigures } from './device.js';
import { digits, ratiosToJson, renderRatios, table } from './report.js';

/** Returns the figures for the JSON file, with the verdict on each target. */
export const deviceToJson = ({ ratios, ...figures }: DeviceFigures) => ({
  ...figures,
  ...ratiosToJson({ ratios, leftOut: [] }),
});

/** Returns the figures as text: a table of times and the ratios. */
export function renderDevice({ device, reason, rows, ratios }: DeviceFigures): string {
  if (device === null) return `No device was measured: ${reason}`;
  const { adapter, software, exact } = device;
  const lines = rows.map(({ backend, name, readBack, episodes, nsPerStep, stepsPerSecond }) => [
    backend === 'webgpu' ? backend : `${backend}, one thread`,
    name,
    backend === 'webgpu' ? (readBack ? 'all outputs' : 'nothing') : 'not needed',
    episodes,
    digits(nsPerStep, 3),
    digits(stepsPerSecond, 0),
  ]);
  const head = ['backend', 'case', 'read back', 'episodes', 'ns/step', 'steps/s'];
  return [
    `WebGPU on ${adapter}${exact ? ', exact to the bit' : ', INEXACT'}`,
    table(head, lines, 3),
    software ? 'A SOFTWARE ADAPTER: the CPU emulates a device. These times say nothing about a GPU.' : '',
    ratios.length > 0 ? renderRatios({ ratios, leftOut: [] }) : '',
  ]
    .filter(Boolean)
    .join('\n');
}
