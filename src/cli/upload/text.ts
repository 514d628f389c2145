/** What `rhythm-vec upload` says of a plan. */
import { CARD, type LocalFile, type LocalFiles, leftOutText } from '../../hub/local-files.js';
import { type PlannedFile, toSend, type UploadPlan } from '../../hub/plan.js';
import { repoText, repoUrl } from '../../hub/repo.js';

/** The repository and its branch, and what becomes of them. */
export function repositoryText(endpoint: string, plan: UploadPlan, dryRun: boolean): string {
  const { repo, branch, remote } = plan;
  const will = dryRun ? 'would be' : 'will be';
  const what = `${repoText(repo)} (${repoUrl(endpoint, repo)})`;
  if (!remote.exists) {
    const visibility = plan.private ? 'private' : "public, unless its owner's settings say otherwise";
    const other = branch === 'main' ? '' : `, and its branch ${branch}`;
    return `${what} is not there, or not for this token to see: it ${will} created, ${visibility}${other}.`;
  }
  const visibility = remote.private ? 'private' : 'public';
  if (remote.head === null) return `${what} is there, ${visibility}; its branch ${branch} ${will} created.`;
  return `${what} is there, ${visibility}; its branch ${branch} is at ${remote.head.slice(0, 8)}.`;
}

export const sizeOf = (files: readonly LocalFile[]): number =>
  files.reduce((sum, { blob }) => sum + blob.size, 0);

/** A line for each file, and their sum. */
export function filesText(planned: readonly PlannedFile[]): string[] {
  const width = Math.max(...planned.map(({ file }) => sizeText(file.blob.size).length));
  const lines = planned.map(
    ({ file, change }) =>
      `  ${change.padEnd('changed'.length)}  ${sizeText(file.blob.size).padStart(width)}  ${file.target}`,
  );
  const sent = toSend(planned);
  const files = planned.length === 1 ? 'file' : 'files';
  return [
    ...lines,
    `To upload: ${sent.length} of ${planned.length} ${files}, ${sizeText(sizeOf(sent.map(({ file }) => file)))}.`,
  ];
}

const UNITS = ['kB', 'MB', 'GB', 'TB'];

/** Bytes, in powers of 1000, as the Hub shows them. */
function sizeText(bytes: number): string {
  let [value, unit] = [bytes, 'B'];
  for (const next of UNITS) {
    if (value < 999.5) break;
    [value, unit] = [value / 1000, next];
  }
  return unit === 'B' ? `${bytes} B` : `${value.toPrecision(3)} ${unit}`;
}

/** More paths than this are only counted. */
const MANY = 10;

/** What whoever uploads may not have thought of. */
export function notesOn(planned: readonly PlannedFile[], { leftOut }: LocalFiles): string[] {
  const sent = toSend(planned);
  const notes: string[] = [];
  if (leftOut.length > 0) {
    notes.push(`left out: ${listed(leftOut.map(leftOutText))}. Name one to upload it.`);
  }
  const hidden = sent.filter(({ inspection }) => inspection.holdsHidden).map(targetOf);
  if (hidden.length > 0) {
    notes.push(
      `persons' hidden numbers, which no agent is shown, are in ${listed(hidden)}: what is trained on them is no agent's.`,
    );
  }
  const held = sent.find(({ inspection }) => inspection.evalSeed !== null);
  if (held !== undefined) {
    notes.push(
      `weeks of seeds that are kept for evaluation are in ${held.file.target} (such as ${held.inspection.evalSeed}): what is ` +
        'trained on them is no result.',
    );
  }
  if (sent.some(cardLeavesOthers(planned))) {
    notes.push(
      `${CARD} goes to the root; where it names files, they must be named as they are in the repository.`,
    );
  }
  return notes;
}

const targetOf = ({ file }: PlannedFile): string => file.target;

/** A card that was beside files which go to a directory. */
const cardLeavesOthers =
  (planned: readonly PlannedFile[]) =>
  ({ file }: PlannedFile): boolean =>
    file.target === CARD &&
    planned.some(
      (other) => other.file.target.includes('/') && !other.file.source.endsWith(other.file.target),
    );

const listed = (texts: readonly string[]): string =>
  texts.length <= MANY
    ? texts.join(', ')
    : `${texts.slice(0, MANY).join(', ')} and ${texts.length - MANY} more`;
