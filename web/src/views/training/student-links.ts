/** Starts a race against a student, and downloads its file. */
import { toAddress } from '../../address.js';
import { BY_HAND } from '../../person/player-names.js';
import type { StudentFile } from '../../students/student-files.js';
import { PERSON_FIELDS } from '../person/fields.js';

/** The new person has a seed below this number. Seeds from this number on are out of distribution (docs/world.md). */
const SEEDS = 10_000;

/** Goes to a new person, with a race against a student that the browser keeps (kept-students.ts). */
export function playAgainst(name: string, grader: string): void {
  location.hash = toAddress('person', PERSON_FIELDS, {
    seed: Math.floor(Math.random() * SEEDS),
    person: 'sampled',
    grader,
    by: BY_HAND,
    against: name,
    moves: [],
    at: 0,
  });
  scrollTo(0, 0);
}

/** Lets the browser save a student's file. */
export function download({ name, file }: StudentFile): void {
  const url = URL.createObjectURL(new Blob([file as BlobPart], { type: 'application/octet-stream' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = `${name}.safetensors`;
  link.click();
  // The browser reads the file soon after the click.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
