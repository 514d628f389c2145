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
import { rowsOf } from '../action-sequences.js';
import { LineProcess, PYTHON } from '../child.js';
import { now } from '../clock.js';
import { WORLD } from '../rig.js';
import type { Input, InputFolder } from './inputs.js';

/** How often to play an input. */
export interface Plays {
  readonly plays: number;
  /** Batches that a play steps, one after the other. A play of a single small batch is too short for a timer. */
  readonly copies: number;
}

export interface Played {
  /** The sum of the final scores of the last batch. */
  readonly score: number;
  /** The seconds of each play. */
  readonly seconds: readonly number[];
}

export interface Player {
  /** @returns null if the engine or program is missing or failed; `reason` then says why. */
  play(input: Input, folder: InputFolder, plays: Plays): Promise<Played | null>;
  /** Plays once. @returns all outputs, in the order of `goldenOutputs`; null as in `play`. */
  record(input: Input, folder: InputFolder): Promise<Float32Array | null>;
  readonly reason: string;
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

/** The players in the order of the table. This engine is the first. */
export const PLAYERS: readonly PlayerKind[] = [
  { name: 'rhythm-vec', tolerance: 0, open: () => new EnginePlayer('native') },
  { name: SCALAR, tolerance: 0, open: () => new EnginePlayer('native', 'scalar') },
  { name: PLAIN, tolerance: FUSED, open: openPlain },
  { name: 'numba', tolerance: 0, open: () => openPython('numba_peer.py') },
  { name: 'JAX', tolerance: FUSED, open: () => openPython('jax_peer.py') },
  { name: 'NumPy', tolerance: 0, open: () => openPython('numpy_peer.py') },
  {
    name: 'TypeScript reference',
    tolerance: 0,
    maxEpisodes: 2 ** 18,
    open: () => new EnginePlayer('reference'),
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
class EnginePlayer implements Player {
  reason = '';
  readonly #backend: string;
  readonly #kernel: string | undefined;

  constructor(backend: string, kernel?: string) {
    this.#backend = backend;
    this.#kernel = kernel;
  }

  async play(input: Input, _folder: InputFolder, { plays, copies }: Plays): Promise<Played | null> {
    return this.#play(input, { plays, copies }, () => {});
  }

  async record(input: Input): Promise<Float32Array | null> {
    const outputs: Float32Array[] = [];
    const played = this.#play(input, { plays: 1, copies: 1 }, (array) => outputs.push(array.slice()));
    return played === null ? null : Float32Array.from(outputs.flatMap((array) => Array.from(array)));
  }

  #play(input: Input, { plays, copies }: Plays, onOutputs: (array: Float32Array) => void): Played | null {
    const { seeds: seed, profiles } = input;
    // Weights for each environment are slow to validate, and large inputs have one grader.
    const graders =
      input.graders.length > MAX_MIXED_WEIGHTS ? input.graders.subarray(0, NUM_COMPONENTS) : input.graders;
    const envs: VecEnv[] = [];
    try {
      const seconds = [];
      for (let copy = 0; copy < copies; copy++) {
        const [backend, kernel] = [this.#backend, this.#kernel];
        envs.push(createVecEnv({ numEnvs: seed.length, backend, kernel, threads: 1 }));
      }
      const { finalScores } = envs[copies - 1].reset({ seed, profiles, graders });
      for (let play = 0; play < plays; play++) {
        for (const env of envs) env.reset({ seed, profiles, graders });
        const rows = envs.map((_, copy) => actionsOf(input, play * copies + copy));
        const start = now();
        envs.forEach((env, copy) => {
          for (const actions of rows[copy]) onOutputs(env.step(actions).observations);
        });
        seconds.push((now() - start) / 1e9);
      }
      onOutputs(finalScores);
      return { score: finalScores.reduce((sum, value) => sum + value, 0), seconds };
    } catch (error) {
      this.reason = messageOf(error);
      return null;
    } finally {
      for (const env of envs) env.close();
    }
  }

  async close(): Promise<void> {}
}

/** Plays with a peer, a program in another process. */
class ProgramPlayer implements Player {
  reason = '';
  readonly #program: LineProcess;
  readonly #dispose: () => void;

  constructor(program: LineProcess, dispose: () => void = () => {}) {
    this.#program = program;
    this.#dispose = dispose;
  }

  async play(_input: Input, { path }: InputFolder, { plays, copies }: Plays): Promise<Played | null> {
    return this.#ask(`${path} ${plays} ${copies} 0`);
  }

  async record(_input: Input, { path }: InputFolder): Promise<Float32Array | null> {
    if ((await this.#ask(`${path} 1 1 1`)) === null) return null;
    return new Float32Array(new Uint8Array(readFileSync(join(path, 'outputs'))).buffer);
  }

  async #ask(line: string): Promise<Played | null> {
    const answer = await this.#program.ask(line);
    if (answer === null) {
      this.reason = this.#program.error;
      return null;
    }
    const [score, ...seconds] = answer.trim().split(/\s+/).map(Number);
    return { score, seconds };
  }

  async close(): Promise<void> {
    await this.#program.close();
    this.#dispose();
  }
}

const pathOf = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

const openPython = (script: string): Player => new ProgramPlayer(new LineProcess(PYTHON, [pathOf(script)]));

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
    return new MissingPlayer(messageOf(error).split('\n')[0]);
  }
  return new ProgramPlayer(new LineProcess(program, []), dispose);
}

/** A program that could not be compiled. */
class MissingPlayer implements Player {
  readonly reason: string;
  constructor(reason: string) {
    this.reason = reason;
  }
  play = async () => null;
  record = async () => null;
  async close(): Promise<void> {}
}
