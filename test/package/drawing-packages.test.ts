/** Without the optional drawing packages the engine works; errors of figures and commands name the packages to install. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { BarePackage } from '../support/bare-package.js';

const VEGA = ['vega', 'vega-lite'];
const CANVAS = '@napi-rs/canvas';
const FONT = '@expo-google-fonts/inter';

let bare: BarePackage;
beforeAll(() => {
  bare = new BarePackage();
});
afterEach(() => bare.uninstall([...VEGA, CANVAS, FONT, 'hono']));
afterAll(() => bare.remove());

const CODE = `
  import { createVecEnv } from './dist/index.js';
  import { pngOf } from './dist/figures/png.js';
  import { svgOf } from './dist/figures/svg.js';
  import { drawActionSequences } from './dist/figures/action-sequences.js';
  const fields = ({ name, code, message }) => ({ name, code, message });
  const env = createVecEnv({ numEnvs: 1, backend: 'reference' });
  env.reset({ seed: 1 });
  const drawing = drawActionSequences({ rows: [{ name: 'heuristic', actions: env.run('heuristic', { trajectory: true }).trajectory.actions }] });
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="2" height="2"/>';
  console.log(JSON.stringify({
    svg: await svgOf(drawing).then((svg) => svg.slice(0, 4), fields),
    png: await pngOf(svg).then((png) => png.length > 0, fields),
  }));
`;

interface Output {
  readonly svg: unknown;
  readonly png: unknown;
}
const run = (): Output =>
  JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '--eval', CODE], {
      cwd: bare.folder,
      encoding: 'utf8',
    }),
  );

const refusal = (...mentions: string[]) => ({
  name: 'LibraryError',
  code: 'library_missing',
  message: expect.stringMatching(new RegExp(`^Expected .*${mentions.join('.*')}`)) as string,
});

it('without drawing packages the engine runs, and SVG and PNG are refused', () => {
  expect(run()).toEqual({
    svg: refusal(
      "vega and vega-lite, which SVG figures need, got: Cannot find package 'vega'",
      'npm install',
    ),
    png: refusal(`${CANVAS} and ${FONT}, which PNG figures need, got: Cannot find`, 'npm install'),
  });
});

it('an audit with pictures is refused, and writes nothing', () => {
  const command = () =>
    execFileSync(process.execPath, ['dist/cli/main.js', 'audit', '--output', 'report'], {
      cwd: bare.folder,
      stdio: 'pipe',
    });
  expect(command).toThrow(`Run "npm install vega@6 vega-lite@6.4 ${CANVAS}@1 ${FONT}@0.4".\n`);
  expect(existsSync(join(bare.folder, 'report'))).toBe(false);
});

it('a report is refused, and the error names one command that installs all missing packages', () => {
  const report = () =>
    execFileSync(process.execPath, ['dist/cli/main.js', 'report', 'package.json', '--output', 'report'], {
      cwd: bare.folder,
      stdio: 'pipe',
    });
  const found = (names: string) => `error: Expected ${names} need, got: Cannot find `;
  expect(report).toThrow(
    found(`vega, vega-lite, ${CANVAS}, ${FONT} and hono, which SVG figures, PNG figures and pages`),
  );
  expect(report).toThrow(`Run "npm install vega@6 vega-lite@6.4 ${CANVAS}@1 ${FONT}@0.4 hono@4".\n`);
  bare.install([...VEGA, 'hono']);
  expect(report).toThrow(found(`${CANVAS} and ${FONT}, which PNG figures`));
  expect(report).toThrow(`Run "npm install ${CANVAS}@1 ${FONT}@0.4".\n`);
});

it('if one of two packages is missing, the error names it', () => {
  bare.install(['vega', CANVAS]);
  expect(run()).toEqual({
    svg: refusal("Cannot find package 'vega-lite'", 'npm install vega@6 vega-lite@6.4"'),
    png: refusal(`Cannot find module '${FONT}/`, `npm install ${CANVAS}@1 ${FONT}@0.4"`),
  });
});

it('with all drawing packages SVG and PNG are drawn', () => {
  bare.install([...VEGA, CANVAS, FONT]);
  expect(run()).toEqual({ svg: '<svg', png: true });
});
