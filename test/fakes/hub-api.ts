/** The requests of `@huggingface/hub` and `huggingface_hub` that the fake Hub handles. */
import {
  addCommit,
  commitAt,
  type FakeRepo,
  headOf,
  largeFile,
  newRepo,
  regularFile,
  type StoredFile,
  sha256,
} from './hub-store.js';

export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: Buffer;
  /** Whether the request has the valid token. */
  readonly hasValidToken: boolean;
  /** Whether the request has an invalid token. */
  readonly hasInvalidToken: boolean;
}

export interface Reply {
  readonly status: number;
  readonly json?: unknown;
  readonly content?: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Options of a fake Hub. */
export interface HubSettings {
  /** Files of at least this many bytes are large; .parquet and .bin files always are. */
  readonly large: number;
  /** Large files of more than this many bytes are sent in parts of this size; the last may be smaller. */
  readonly part: number;
  /** The accounts that the token may write to; by default all. */
  readonly namespaces?: readonly string[];
}

const refusal = (status: number, error: string, code?: string): Reply => ({
  status,
  json: { error },
  headers: { 'x-error-message': error, ...(code === undefined ? {} : { 'x-error-code': code }) },
});

const NO_REPO = refusal(404, 'Repository not found', 'RepoNotFound');
const NO_REVISION = refusal(404, 'Invalid rev id', 'RevisionNotFound');

/** Handles a request. @param captures the captured groups of its route. */
type Handler = (request: ApiRequest, captures: string[]) => Reply;

/** Handles the requests to a fake Hub, which keeps its repositories in memory. */
export class HubApi {
  readonly repos = new Map<string, FakeRepo>();
  readonly #settings: HubSettings;
  readonly #url: () => string;
  /** The received parts of large files, by SHA-256. */
  readonly #parts = new Map<string, Map<number, Buffer>>();
  readonly #routes: readonly [RegExp, Handler][] = [
    [/^GET \/api\/whoami-v2$/, () => ({ status: 200, json: { type: 'user', name: 'newcomer', orgs: [] } })],
    [/^POST \/api\/validate-yaml$/, () => ({ status: 200, json: { errors: [], warnings: [] } })],
    [/^POST \/api\/repos\/create$/, (request) => this.#create(request)],
    [/^GET \/api\/(model|dataset)s\/([^/]+\/[^/]+)(?:\/revision\/([^/]+))?$/, this.#with(this.#info)],
    [/^POST \/api\/(model|dataset)s\/([^/]+\/[^/]+)\/paths-info\/([^/]+)$/, this.#with(this.#pathsInfo)],
    [/^POST \/api\/(model|dataset)s\/([^/]+\/[^/]+)\/preupload\/([^/]+)$/, this.#with(this.#preupload)],
    [/^POST \/api\/(model|dataset)s\/([^/]+\/[^/]+)\/branch\/([^/]+)$/, this.#with(this.#branch)],
    [/^POST \/api\/(model|dataset)s\/([^/]+\/[^/]+)\/commit\/([^/]+)$/, this.#with(this.#commit)],
    [/^POST \/(?:(dataset)s\/)?([^/]+\/[^/]+)\.git\/info\/lfs\/objects\/batch$/, this.#with(this.#batch)],
    [/^PUT \/storage\/(model|dataset)\/([^/]+\/[^/]+)\/([0-9a-f]{64})$/, this.#with(this.#store)],
    [
      /^POST \/storage\/(model|dataset)\/([^/]+\/[^/]+)\/([0-9a-f]{64})\/complete$/,
      this.#with(this.#complete),
    ],
    [/^POST \/storage\/(model|dataset)\/([^/]+\/[^/]+)\/([0-9a-f]{64})\/verify$/, this.#with(this.#verify)],
    [/^GET \/(?:(dataset)s\/)?([^/]+\/[^/]+)\/resolve\/([^/]+)\/(.+)$/, this.#with(this.#resolve)],
  ];

  /** @param url returns the URL of the listening server. */
  constructor(settings: HubSettings, url: () => string) {
    this.#settings = settings;
    this.#url = url;
  }

  repo(type: string, name: string): FakeRepo | undefined {
    return this.repos.get(`${type} ${name}`);
  }

  answer(request: ApiRequest): Reply {
    const isStorage = request.path.startsWith('/storage/');
    if (request.hasInvalidToken) return refusal(401, 'Invalid credentials in Authorization header');
    if (
      request.method !== 'GET' &&
      !request.hasValidToken &&
      !isStorage &&
      !request.path.includes('/paths-info/')
    ) {
      return refusal(401, 'Invalid username or password.');
    }
    for (const [route, handler] of this.#routes) {
      const match = route.exec(`${request.method} ${request.path}`);
      if (match === null) continue;
      // Some paths of models have no type. Without a revision, the default branch is used.
      const captures = match.slice(1).map((text, k) => text ?? (k === 0 ? 'model' : 'HEAD'));
      return handler(request, captures.map(decodeURIComponent));
    }
    return refusal(404, `Nothing at ${request.method} ${request.path}`);
  }

  /** Wraps a handler: finds the repository of a request, and checks that the token may read or write it. */
  #with(handler: (this: HubApi, repo: FakeRepo, request: ApiRequest, ...rest: string[]) => Reply): Handler {
    return (request, [type, name, ...rest]) => {
      const repo = this.repo(type, name);
      if (
        repo === undefined ||
        (repo.private && !request.hasValidToken && !request.path.startsWith('/storage/'))
      ) {
        return request.hasValidToken ? NO_REPO : refusal(401, 'Invalid username or password.');
      }
      const writes = request.method !== 'GET' && !request.path.includes('/paths-info/');
      if (writes && !request.path.startsWith('/storage/') && !this.#mayWrite(name)) return FORBIDDEN;
      return handler.call(this, repo, request, ...rest);
    };
  }

  #mayWrite(name: string): boolean {
    return this.#settings.namespaces?.includes(name.split('/')[0]) ?? true;
  }

  #create({ body }: ApiRequest): Reply {
    const { type = 'model', name, organization, visibility, private: isPrivate } = jsonOf(body);
    const full = `${organization ?? 'newcomer'}/${name}`;
    if (!this.#mayWrite(full)) return FORBIDDEN;
    const url = `${this.#url()}/${type === 'dataset' ? 'datasets/' : ''}${full}`;
    if (this.repo(type, full) !== undefined) {
      return { status: 409, json: { error: `You already created this ${type} repo: ${full}`, url } };
    }
    this.repos.set(`${type} ${full}`, newRepo(type, full, isPrivate === true || visibility === 'private'));
    return { status: 200, json: { url, name: full, id: full } };
  }

  #info(repo: FakeRepo, _: ApiRequest, revision: string): Reply {
    const commit = commitAt(repo, revision);
    if (commit === undefined) return NO_REVISION;
    const { name, private: isPrivate } = repo;
    const rest = { likes: 0, downloads: 0, gated: false, lastModified: '2026-01-01T00:00:00.000Z' };
    return { status: 200, json: { _id: 'f00d', id: name, private: isPrivate, sha: commit.id, ...rest } };
  }

  #pathsInfo(repo: FakeRepo, { body }: ApiRequest, revision: string): Reply {
    const commit = commitAt(repo, revision);
    if (commit === undefined) return NO_REVISION;
    const text = body.toString();
    const paths: string[] = text.startsWith('{')
      ? JSON.parse(text).paths
      : new URLSearchParams(text).getAll('paths');
    return { status: 200, json: paths.flatMap((path) => entryOf(commit.tree, path)) };
  }

  #preupload(repo: FakeRepo, { body }: ApiRequest, branch: string): Reply {
    const commit = commitAt(repo, branch);
    if (commit === undefined) return NO_REVISION;
    const files = (jsonOf(body).files as { path: string; size: number }[]).map(({ path, size }) => ({
      path,
      uploadMode: size >= this.#settings.large || /\.(parquet|bin)$/.test(path) ? 'lfs' : 'regular',
      shouldIgnore: false,
      oid: commit.tree.get(path)?.lfs ?? commit.tree.get(path)?.oid ?? null,
    }));
    return { status: 200, json: { files } };
  }

  #branch(repo: FakeRepo, { body }: ApiRequest, name: string): Reply {
    if (repo.branches.has(name)) return refusal(409, `Reference already exists: ${name}`);
    const from = commitAt(repo, jsonOf(body).startingPoint ?? 'HEAD');
    if (from === undefined) return NO_REVISION;
    repo.branches.set(name, [from]);
    return { status: 200, json: {} };
  }

  #batch(repo: FakeRepo, { body }: ApiRequest): Reply {
    const objects = (jsonOf(body).objects as { oid: string; size: number }[]).map(({ oid, size }) => {
      if (repo.objects.has(oid)) return { oid, size };
      const href = `${this.#url()}/storage/${repo.type}/${repo.name}/${oid}`;
      const signed = 'X-Amz-Signature=secret';
      const verify = { href: `${href}/verify`, header: {} };
      const count = Math.ceil(size / this.#settings.part);
      if (count <= 1)
        return { oid, size, actions: { upload: { href: `${href}?${signed}`, header: {} }, verify } };
      const parts = Array.from({ length: count }, (_, k) => [
        String(k + 1).padStart(5, '0'),
        `${href}?part=${k + 1}&${signed}`,
      ]);
      const header = { chunk_size: String(this.#settings.part), ...Object.fromEntries(parts) };
      return { oid, size, actions: { upload: { href: `${href}/complete`, header }, verify } };
    });
    return { status: 200, json: { transfer: 'basic', objects } };
  }

  #store(repo: FakeRepo, { query, body }: ApiRequest, oid: string): Reply {
    const part = query.get('part');
    if (part === null) return storeObject(repo, oid, body);
    const parts = this.#parts.get(oid) ?? new Map<number, Buffer>();
    this.#parts.set(oid, parts.set(Number(part), body));
    return { status: 200, headers: { etag: `"${part}"` } };
  }

  #complete(repo: FakeRepo, { body }: ApiRequest, oid: string): Reply {
    const parts = (jsonOf(body).parts as { partNumber: number; etag: string }[]).map(
      ({ partNumber, etag }) =>
        etag.replaceAll('"', '') === String(partNumber) ? this.#parts.get(oid)?.get(partNumber) : undefined,
    );
    if (parts.includes(undefined)) return refusal(400, 'A part is missing');
    return storeObject(repo, oid, Buffer.concat(parts as Buffer[]));
  }

  #verify(repo: FakeRepo, { body }: ApiRequest, oid: string): Reply {
    const { size } = jsonOf(body);
    return repo.objects.get(oid)?.length === size ? { status: 200 } : refusal(404, 'Object not found');
  }

  #commit(repo: FakeRepo, { body }: ApiRequest, branch: string): Reply {
    const head = headOf(repo, branch);
    if (head === undefined) return NO_REVISION;
    const lines = body
      .toString()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const { summary, description, parentCommit } = lines[0].value;
    if (parentCommit !== undefined && parentCommit !== head.id) {
      return refusal(412, 'A commit has happened since. Please refresh and try again.');
    }
    const files = new Map<string, StoredFile>();
    for (const { key, value } of lines.slice(1)) {
      const content = key === 'lfsFile' ? repo.objects.get(value.oid) : Buffer.from(value.content, 'base64');
      if (content === undefined) return refusal(400, `No object ${value.oid} of ${value.path}`);
      files.set(value.path, key === 'lfsFile' ? largeFile(content, value.oid) : regularFile(content));
    }
    const { id } = addCommit(repo, branch, files, { title: summary, description });
    const at = `${this.#url()}/${repo.type === 'dataset' ? 'datasets/' : ''}${repo.name}/commit/${id}`;
    return { status: 200, json: { success: true, commitOid: id, commitUrl: at, hookOutput: '' } };
  }

  #resolve(repo: FakeRepo, _: ApiRequest, revision: string, path: string): Reply {
    const file = commitAt(repo, revision)?.tree.get(path);
    return file === undefined
      ? refusal(404, 'Entry not found', 'EntryNotFound')
      : { status: 200, content: file.content };
  }
}

const FORBIDDEN = refusal(403, "You don't have the rights to create a model under this namespace");

// biome-ignore lint/suspicious/noExplicitAny: JSON of clients, used field by field.
const jsonOf = (body: Buffer): any => JSON.parse(body.toString() || '{}');

function storeObject(repo: FakeRepo, oid: string, content: Buffer): Reply {
  if (sha256(content) !== oid) return refusal(400, `Expected contents of SHA-256 ${oid}`);
  repo.objects.set(oid, content);
  return { status: 200, headers: { etag: `"${oid}"` } };
}

function entryOf(tree: ReadonlyMap<string, StoredFile>, path: string): unknown[] {
  const file = tree.get(path);
  if (file === undefined) {
    const within = [...tree.keys()].some((other) => other.startsWith(`${path}/`));
    return within ? [{ type: 'directory', path, oid: '0'.repeat(40), size: 0 }] : [];
  }
  const { size, oid, lfs } = file;
  // huggingface_hub requires the size of Git LFS's pointer file. The value is chosen by hand.
  const large = lfs === undefined ? {} : { lfs: { oid: lfs, size, pointerSize: 134 } };
  return [{ type: 'file', path, size, oid, ...large }];
}
