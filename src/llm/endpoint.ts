/** Where a language model is asked: from options and the environment, checked before anything is. */
import { InputError } from '../errors.js';
import { type Redact, redactor } from '../http/secrets.js';

type Environment = Readonly<Record<string, string | undefined>>;

export interface EndpointOptions {
  /** In place of OPENAI_BASE_URL, and of Azure. */
  readonly baseUrl?: string;
  /** Default: the process's. */
  readonly environment?: Environment;
}

interface Common {
  /** Without credentials and query: as messages name it. */
  readonly url: string;
  /** Null for an endpoint that asks for none. */
  readonly key: string | null;
  /** What else every request's URL holds. */
  readonly query: Readonly<Record<string, string>>;
  readonly redact: Redact;
}

export interface OpenAiEndpoint extends Common {
  readonly kind: 'openai';
}

export interface AzureEndpoint extends Common {
  readonly kind: 'azure';
  readonly key: string;
  readonly apiVersion: string;
  /** Null where the model's name is the deployment's. */
  readonly deployment: string | null;
}

export type Endpoint = OpenAiEndpoint | AzureEndpoint;

const OPENAI_URL = 'https://api.openai.com/v1';

/**
 * Where to ask: `baseUrl`, else Azure if AZURE_OPENAI_ENDPOINT is set, else OPENAI_BASE_URL, else OpenAI.
 * @throws InputError `missing_setting` that names what is missing, or `out_of_range` for a URL that is none.
 */
export function toEndpoint({ baseUrl, environment = process.env }: EndpointOptions = {}): Endpoint {
  const said = (name: string): string | null => environment[name]?.trim() || null;
  const azure = said('AZURE_OPENAI_ENDPOINT');
  if (baseUrl !== undefined) return openAi(baseUrl, '--base-url', said);
  const url = said('OPENAI_BASE_URL');
  if (azure === null) return openAi(url ?? OPENAI_URL, 'OPENAI_BASE_URL', said);
  if (url === null) return azureOf(azure, said);
  throw new InputError(
    'unknown_option',
    'Expected one endpoint, got both OPENAI_BASE_URL and AZURE_OPENAI_ENDPOINT. Unset one of them, or pass --base-url.',
  );
}

type Said = (name: string) => string | null;

function openAi(text: string, where: string, said: Said): OpenAiEndpoint {
  const key = said('OPENAI_API_KEY');
  const { url, query } = toUrl(text, where);
  if (key === null && new URL(url).host === new URL(OPENAI_URL).host) {
    throw missing('OPENAI_API_KEY', 'Set it, or pass --base-url for a server that asks for none.');
  }
  return { kind: 'openai', url, query, key, redact: redactorOf(key, query, said) };
}

function azureOf(text: string, said: Said): AzureEndpoint {
  const { url, query } = toUrl(text, 'AZURE_OPENAI_ENDPOINT');
  const key = said('AZURE_OPENAI_API_KEY');
  if (key === null) throw missing('AZURE_OPENAI_API_KEY', "Set it to one of the resource's keys.");
  const apiVersion = said('OPENAI_API_VERSION');
  if (apiVersion === null) throw missing('OPENAI_API_VERSION', 'Set it, to 2024-10-21 for instance.');
  const deployment = said('AZURE_OPENAI_DEPLOYMENT');
  return {
    kind: 'azure',
    ...{ url, query, key, apiVersion, deployment },
    redact: redactorOf(key, query, said),
  };
}

/** Headers of the caller's own may hold a key too. */
function redactorOf(key: string | null, query: Readonly<Record<string, string>>, said: Said): Redact {
  const headers = (said('OPENAI_CUSTOM_HEADERS') ?? '').split('\n').map((line) => {
    return line.slice(line.indexOf(':') + 1).trim();
  });
  const words = headers.flatMap((value) => [value, ...value.split(' ')]);
  return redactor([key ?? '', ...Object.values(query), ...words, said('OPENAI_ADMIN_KEY') ?? '']);
}

const missing = (name: string, remedy: string): InputError =>
  new InputError('missing_setting', `Expected ${name} in the environment, got none. ${remedy}`);

/** A URL that requests can be made of. What it holds besides is in no message. */
function toUrl(text: string, where: string): { url: string; query: Record<string, string> } {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new InputError(
      'out_of_range',
      `Expected ${where} to be a URL of http or https, got another text. Pass one, such as http://localhost:8000/v1.`,
    );
  }
  if (url.username !== '' || url.password !== '') {
    throw new InputError(
      'out_of_range',
      `Expected ${where} to hold no user name and no password, got ${url.protocol}//...@${url.host}. ` +
        'Pass it without them, and the key by OPENAI_API_KEY.',
    );
  }
  const query = Object.fromEntries(url.searchParams);
  return { url: `${url.origin}${url.pathname}`.replace(/\/+$/, ''), query };
}
