/** Describes the plan of an upload. */

import { type Repo, repoText, repoUrl } from '../training/hub/account.js';
import { CARD, type LocalFile, type LocalFiles } from '../training/hub/local-files.js';
import { changedFiles, type PlannedFile, type UploadPlan } from '../training/hub/upload.js';

/** Describes the repository and its branch, and says which of them are created. @param will 'will be' or 'would be'. */
export function repositoryText(endpoint: string, plan: UploadPlan, will: string): string {
  const { repo, branch, remote } = plan;
  const what = `${repoText(repo)} (${repoUrl(endpoint, repo)})`;
  if (remote.private === null) {
    const visibility = plan.private ? 'private' : "public, unless its owner's settings say otherwise";
    const created = branch === 'main' ? 'it' : `it and its branch ${branch}`;
    return `${what} does not exist or is hidden from this token: ${created} ${will} created, ${visibility}.`;
  }
  const visibility = remote.private ? 'private' : 'public';
  if (remote.head === null) return `${what} exists, ${visibility}; its branch ${branch} ${will} created.`;
  return `${what} exists, ${visibility}; its branch ${branch} is at ${remote.head.slice(0, 8)}.`;
}

/** Describes a repository that was not read. */
export const unreadText = (endpoint: string, repo: Repo): string =>
  `${repoText(repo)} (${repoUrl(endpoint, repo)}) was not read, so the files are not compared with it.`;

/** Returns the total size of files in bytes. */
export const sizeOf = (files: readonly LocalFile[]): number =>
  files.reduce((sum, { blob }) => sum + blob.size, 0);

/** Returns a line per file, and a line with the number and total size of the files to upload. */
export function filesText(planned: readonly PlannedFile[]): string[] {
  const width = Math.max(...planned.map(({ file }) => sizeText(file.blob.size).length));
  const lines = planned.map(
    ({ file, change }) =>
      `  ${change.padEnd('changed'.length)}  ${sizeText(file.blob.size).padStart(width)}  ${file.target}`,
  );
  const changed = changedFiles(planned);
  const files = planned.length === 1 ? 'file' : 'files';
  const atMost = planned.some(({ change }) => change === 'unknown') ? 'at most ' : '';
  return [
    ...lines,
    `To upload: ${atMost}${changed.length} of ${planned.length} ${files}, ${sizeText(sizeOf(changed.map(({ file }) => file)))}.`,
  ];
}

const UNITS = ['kB', 'MB', 'GB', 'TB'];

/** Formats bytes in powers of 1000, as the Hub does. */
function sizeText(bytes: number): string {
  // 999.5 and more would be rounded to 1000.
  const power = UNITS.filter((_, k) => bytes >= 999.5 * 1000 ** k).length;
  return power === 0 ? `${bytes} B` : `${(bytes / 1000 ** power).toPrecision(3)} ${UNITS[power - 1]}`;
}

/** The maximum number of paths in a list, chosen by hand: a note stays short. Further paths are only counted. */
const MAX_LISTED = 10;

/** Returns notes on possible mistakes, such as a file that was left out. */
export function notesOn(planned: readonly PlannedFile[], { leftOut }: LocalFiles): string[] {
  const changed = changedFiles(planned);
  const notes: string[] = [];
  if (leftOut.length > 0) {
    notes.push(`left out: ${listed(leftOut)}. Name such a file to upload it.`);
  }
  const hidden = changed.filter(({ inspection }) => inspection.holdsHidden).map(targetOf);
  if (hidden.length > 0) {
    const verb = hidden.length === 1 ? 'contains' : 'contain';
    notes.push(`${listed(hidden)} ${verb} hidden profiles: a model trained on them is not a valid agent.`);
  }
  const evaluated = changed.find(({ inspection }) => inspection.evalSeed !== null);
  if (evaluated !== undefined) {
    notes.push(
      `${evaluated.file.target} contains episodes of evaluation seeds (such as ${evaluated.inspection.evalSeed}): a model ` +
        'trained on them must not be evaluated on these seeds.',
    );
  }
  if (changed.some(isSeparateCard(planned))) {
    notes.push(`${CARD} goes to the root; check that the paths in it match the repository.`);
  }
  return notes;
}

const targetOf = ({ file }: PlannedFile): string => file.target;

/** Returns a test for a card that goes to the root while other files go to a directory of the repository. */
const isSeparateCard =
  (planned: readonly PlannedFile[]) =>
  ({ file }: PlannedFile): boolean =>
    file.target === CARD &&
    // With --path-in-repo, a target begins with a directory that the path of the local file lacks.
    planned.some(
      (other) => other.file.target.includes('/') && !other.file.source.endsWith(other.file.target),
    );

const listed = (texts: readonly string[]): string =>
  texts.length <= MAX_LISTED
    ? texts.join(', ')
    : `${texts.slice(0, MAX_LISTED).join(', ')} and ${texts.length - MAX_LISTED} more`;
