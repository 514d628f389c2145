/** The memory of a fake Hub: repositories with branches and commits, and large contents. */
import { createHash, randomBytes } from 'node:crypto';

export interface StoredFile {
  readonly size: number;
  /** The Git id of the blob; for a large file, of its pointer. */
  readonly oid: string;
  readonly content: Buffer;
  /** SHA-256; only large files have one. */
  readonly lfs?: string;
}

export type Tree = ReadonlyMap<string, StoredFile>;

export interface Commit {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly tree: Tree;
}

export interface FakeRepo {
  readonly type: string;
  readonly name: string;
  readonly private: boolean;
  /** The commits of every branch, oldest first. */
  readonly branches: Map<string, Commit[]>;
  /** Large contents by SHA-256, committed or not. */
  readonly objects: Map<string, Buffer>;
}

/** Returns Git's id of a blob. */
export const gitOid = (content: Buffer): string =>
  createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex');

export const sha256 = (content: Buffer): string => createHash('sha256').update(content).digest('hex');

/** Returns the Git LFS pointer that the repository has in place of a large file. @param oid the SHA-256 of the content. */
const pointerOf = (oid: string, size: number): Buffer =>
  Buffer.from(`version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${size}\n`);

export const regularFile = (content: Buffer): StoredFile => ({
  size: content.length,
  oid: gitOid(content),
  content,
});

/** Returns a file that Git LFS stores. @param lfs the SHA-256 of the content. */
export const largeFile = (content: Buffer, lfs: string): StoredFile => ({
  size: content.length,
  oid: gitOid(pointerOf(lfs, content.length)),
  content,
  lfs,
});

const newCommit = (title: string, description: string, tree: Tree): Commit => ({
  ...{ title, description, tree },
  id: randomBytes(20).toString('hex'),
});

/** Creates a repository with a first commit of .gitattributes, as the Hub does. */
export function newRepo(type: string, name: string, isPrivate: boolean): FakeRepo {
  const attributes = regularFile(Buffer.from('*.parquet filter=lfs diff=lfs merge=lfs -text\n'));
  const first = newCommit('initial commit', '', new Map([['.gitattributes', attributes]]));
  return { type, name, private: isPrivate, branches: new Map([['main', [first]]]), objects: new Map() };
}

export const headOf = (repo: FakeRepo, branch: string): Commit | undefined =>
  repo.branches.get(branch)?.at(-1);

/** Finds a commit by its id or by the name of a branch. HEAD is the branch main. */
export const commitAt = (repo: FakeRepo, revision: string): Commit | undefined =>
  headOf(repo, revision === 'HEAD' ? 'main' : revision) ??
  [...repo.branches.values()].flat().find(({ id }) => id === revision);

/** Adds a commit that writes files. */
export function addCommit(
  repo: FakeRepo,
  branch: string,
  files: Tree,
  { title = 'by somebody', description = '' } = {},
): Commit {
  const commits = repo.branches.get(branch)!;
  const commit = newCommit(title, description, new Map([...commits.at(-1)!.tree, ...files]));
  commits.push(commit);
  return commit;
}
