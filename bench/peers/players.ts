/**
 * The players that `--peers` compares: this engine's kernels, its reference, and peers (programs that a user might write).
 *
 * A peer is a process that reads lines `FOLDER PLAYS COPIES RECORDS`. FOLDER has an input (inputs.ts). A play begins COPIES
 * batches of the input, and steps them to the end, one batch after the other, with one call for each step of a batch. Each
 * batch takes the next of the input's sets of actions (`Input.actions`). After PLAYS plays the process answers with a line: the
 * sum of the final scores of the last batch, then the seconds of each play without the time to begin the batches. If RECORDS is
 * 1, PLAYS and COPIES are 1 too, and the process writes all outputs to FOLDER/outputs: the observations after each step, then
 * the scores.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { messageOf } from '../../dist/cli/command-errors.js';
import { createVecEnv, type VecEnv } from '../../dist/index.js';
import { NUM_COMPONENTS, NUM_STEPS } from '../../dist/world/fields.js';
import { LineProcess, Missing, PYTHON } from '../child.js';
import { rowsOf, WORLD } from '../episodes.js';
import { now } from '../runner.js';
import type { Input } from './inputs.js';

/** How often to play an input. */
export interface Plays {
  readonly plays: number;
  /** Batches that a play steps, one after the other. A play of a single small batch is too short for a timer. */
  readonly copies: number;
  /** Whether the single play returns all outputs. */
  readonly records?: boolean;
}

export interface Played {
  /** The sum of the final scores of the last batch. */
  readonly score: number;
  /** The seconds of each play. */
  readonly seconds: readonly number[];
  /** All outputs if they are recorded, in the order of `goldenOutputs`. */
  readonly outputs?: Float32Array;
}

export interface Player {
  /** @param folder has the input. @throws Missing if the engine or program is missing or failed. */
  play(input: Input, folder: string, plays: Plays): Promise<Played>;
  close(): Promise<void>;
}

/** A player's description. */
export interface PlayerKind {
  readonly name: string;
  /**
   * The largest allowed difference from a golden value. It is 0 unless the player's compiler fuses multiplications and
   * additions.
   */
  readonly tolerance: number;
  /** The largest batch that the player can play. Default: no limit. */
  readonly maxEpisodes?: number;
  open(): Player;
}

/** The tolerance for players with fused operations: about ten times the largest difference that was measured. */
const FUSED = 2e-6;

/** The engine's kernel that steps one episode at a time, and the plain loop that it is compared with. */
export const SCALAR = 'rhythm-vec, scalar kernel';
export const PLAIN = 'plain C++';

const pathOf = (file: string): string => fileURLToPath(new URL(file, import.meta.url));
const openPython = (script: string, ...args: readonly string[]): Player =>
  programPlayer(new LineProcess(PYTHON, [pathOf(script), ...args]));

/** The players in the order of the table. This engine is the first. */
export const PLAYERS: readonly PlayerKind[] = [
  { name: 'rhythm-vec', tolerance: 0, open: () => enginePlayer('native') },
  { name: SCALAR, tolerance: 0, open: () => enginePlayer('native', 'scalar') },
  { name: PLAIN, tolerance: FUSED, open: openPlain },
  { name: 'numba', tolerance: 0, open: () => openPython('numba_peer.py') },
  { name: 'JAX', tolerance: FUSED, open: () => openPython('array_peer.py', 'jax') },
  { name: 'NumPy', tolerance: 0, open: () => openPython('array_peer.py') },
  {
    name: 'TypeScript reference',
    tolerance: 0,
    maxEpisodes: 2 ** 18,
    open: () => enginePlayer('reference'),
  },
];

/** An input with more weights than this has the same grader in all episodes. */
const MAX_MIXED_WEIGHTS = 1024;

/** Returns the actions of a batch, by step. @param batch its number among the batches of all plays. */
function actionsOf({ seeds, actions }: Input, batch: number): Uint8Array[] {
  const length = seeds.length * NUM_STEPS;
  const at = (batch % (actions.length / length)) * length;
  return rowsOf(actions.subarray(at, at + length));
}

/** Plays with `VecEnv.step` in this process, on one thread. */
function playInEngine(
  { backend, kernel }: { backend: string; kernel?: string },
  input: Input,
  { plays, copies, records = false }: Plays,
): Played {
  const { seeds: seed, profiles } = input;
  // Weights for each environment are slow to validate, and large inputs have one grader.
  const graders =
    input.graders.length > MAX_MIXED_WEIGHTS ? input.graders.subarray(0, NUM_COMPONENTS) : input.graders;
  const envs: VecEnv[] = [];
  const outputs: number[] = [];
  try {
    const seconds = [];
    for (let copy = 0; copy < copies; copy++) {
      envs.push(createVecEnv({ numEnvs: seed.length, backend, kernel, threads: 1 }));
    }
    const { finalScores } = envs[copies - 1].reset({ seed, profiles, graders });
    for (let play = 0; play < plays; play++) {
      for (const env of envs) env.reset({ seed, profiles, graders });
      const rows = envs.map((_, copy) => actionsOf(input, play * copies + copy));
      const start = now();
      envs.forEach((env, copy) => {
        for (const actions of rows[copy]) {
          const { observations } = env.step(actions);
          if (records) outputs.push(...observations);
        }
      });
      seconds.push((now() - start) / 1e9);
    }
    const score = finalScores.reduce((sum, value) => sum + value, 0);
    return { score, seconds, outputs: records ? Float32Array.from([...outputs, ...finalScores]) : undefined };
  } catch (error) {
    throw new Missing(messageOf(error));
  } finally {
    for (const env of envs) env.close();
  }
}

const enginePlayer = (backend: string, kernel?: string): Player => ({
  play: async (input, _folder, plays) => playInEngine({ backend, kernel }, input, plays),
  close: async () => {},
});

/** Plays with a peer, a program in another process. @param dispose removes the program when it has ended. */
const programPlayer = (program: LineProcess, dispose: () => void = () => {}): Player => ({
  async play(_input, folder, { plays, copies, records = false }) {
    const answer = await program.ask(`${folder} ${plays} ${copies} ${Number(records)}`);
    const [score, ...seconds] = answer.trim().split(/\s+/).map(Number);
    const read = () => new Float32Array(new Uint8Array(readFileSync(join(folder, 'outputs'))).buffer);
    return { score, seconds, outputs: records ? read() : undefined };
  },
  async close() {
    await program.close();
    dispose();
  },
});

/** Compiles plain.cc for this machine, with the world's numbers as constants. */
function openPlain(): Player {
  const folder = mkdtempSync(join(tmpdir(), 'rhythm-plain-'));
  const dispose = () => rmSync(folder, { recursive: true });
  const words = `#include <cstdint>\nconstexpr uint32_t kWords[] = {${WORLD.words.join(', ')}};\n`;
  writeFileSync(join(folder, 'words.h'), words);
  const program = join(folder, 'plain');
  const options = ['-std=c++20', '-O3', '-march=native', '-I', folder, '-o', program, pathOf('plain.cc')];
  try {
    execFileSync(process.env.CXX ?? 'c++', options, { stdio: 'pipe' });
  } catch (error) {
    dispose();
    const [reason] = messageOf(error).split('\n');
    return { play: () => Promise.reject(new Missing(reason)), close: async () => {} };
  }
  return programPlayer(new LineProcess(program, []), dispose);
}
