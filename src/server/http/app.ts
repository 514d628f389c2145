/** The HTTP side: routes, and what is answered to what is none, may not be, or goes wrong. */
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { RhythmError } from '../../errors.js';
import type { Admit } from '../admission.js';
import type { Metrics } from '../metrics.js';
import { RefusedError } from '../protocol/refusals.js';
import { json, type Route } from './routes.js';

export interface AppOptions {
  readonly routes: readonly Route[];
  readonly admit: Admit;
  /** Bytes. */
  readonly bodyLimit: number;
  readonly metrics: Metrics;
  readonly onFailure: (error: unknown) => void;
}

/** What needs no token: those who look after a server ask for it before they can know one. */
const OPEN = '/health';

export function createApp({ routes, admit, bodyLimit: maxSize, metrics, onFailure }: AppOptions): Hono {
  const app = new Hono();
  const tooLarge = (): Response =>
    json(
      { detail: `Expected a body of at most ${maxSize} bytes, got a larger one. Send less at a time.` },
      413,
    );
  app.use(measured(metrics, new Set(routes.map(({ path }) => path))));
  app.use(admitted(admit));
  app.use(bodyLimit({ maxSize, onError: tooLarge }));
  for (const { method, path, handle } of routes) app[method](path, handle);
  app.notFound((context) => notFound(context, routes));
  app.onError((error, context) => failed(error, context, onFailure));
  return app;
}

type Next = () => Promise<void>;

/** By route, not by path: what clients make up is not kept. */
function measured(metrics: Metrics, paths: ReadonlySet<string>) {
  return async (context: Context, next: Next): Promise<void> => {
    const { path } = context.req;
    const end = metrics.requests.startTimer({ route: paths.has(path) ? path : 'none' });
    await next();
    end({ status: context.res.status });
  };
}

function admitted(admit: Admit) {
  return async ({ req }: Context, next: Next): Promise<Response | undefined> => {
    const refused =
      req.path === OPEN
        ? null
        : admit({ authorization: req.header('authorization'), origin: req.header('origin') });
    if (refused === null) {
      await next();
      return undefined;
    }
    const answer = json({ detail: refused.detail }, refused.status);
    if (refused.status === 401) answer.headers.set('www-authenticate', 'Bearer');
    return answer;
  };
}

function notFound({ req }: Context, routes: readonly Route[]): Response {
  const allowed = routes.filter(({ path }) => path === req.path).map(({ method }) => method.toUpperCase());
  if (allowed.length === 0) return json({ detail: 'Not Found' }, 404);
  const answer = json({ detail: 'Method Not Allowed' }, 405);
  answer.headers.set('allow', allowed.join(', '));
  return answer;
}

function failed(error: unknown, { req }: Context, onFailure: (error: unknown) => void): Response {
  if (error instanceof RefusedError) return json({ detail: error.refusals }, 422);
  if (error instanceof RhythmError) {
    return json({ detail: [{ type: error.code, loc: ['body'], msg: error.message, input: null }] }, 422);
  }
  // Nobody is there to hear it.
  if (req.raw.signal.aborted) return json({ detail: 'Client Closed Request' }, 499);
  onFailure(error);
  return json({ detail: 'Internal Server Error' }, 500);
}
