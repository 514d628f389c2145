/** The HTTP application: routes and error responses. */
import type { HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { RhythmError } from '../../shared/errors.js';
import type { Admit } from '../admission.js';
import type { Metrics } from '../metrics.js';
import { RefusedError } from '../protocol/refusals.js';
import { BusyError } from '../work-turns.js';
import { GoneError, HttpRequest, TooLargeError } from './request.js';
import { json, type Route } from './route.js';

export interface AppOptions {
  readonly routes: readonly Route[];
  readonly admit: Admit;
  /** The most bytes of a batch and of a message. */
  readonly bodyLimit: number;
  readonly frameLimit: number;
  readonly metrics: Metrics;
  readonly onFailure: (error: unknown) => void;
}

interface Env {
  readonly Bindings: HttpBindings;
}

/** The one route that needs no token, for health checks. */
const OPEN = '/health';

export function createApp({ routes, admit, metrics, onFailure, ...limits }: AppOptions): Hono<Env> {
  const app = new Hono<Env>();
  app.use(measured(metrics, new Set(routes.map(({ path }) => path))));
  app.use(admitted(admit));
  for (const { method, path, message, handle } of routes) {
    const most = message ? limits.frameLimit : limits.bodyLimit;
    app[method](path, ({ env }) => handle(new HttpRequest(env.incoming, env.outgoing, most)));
  }
  app.notFound((context) => notFound(context, routes));
  app.onError((error) => failed(error, onFailure));
  return app;
}

type Next = () => Promise<void>;

/** Measures by route. Unknown paths share one label, so clients cannot create labels. */
function measured(metrics: Metrics, paths: ReadonlySet<string>) {
  return async (context: Context, next: Next): Promise<void> => {
    const { path } = context.req;
    const end = metrics.requests.startTimer({ route: paths.has(path) ? path : 'none' });
    await next();
    end({ status: context.res.status });
  };
}

function admitted(admit: Admit) {
  return async ({ req, env }: Context<Env>, next: Next): Promise<Response | undefined> => {
    const refused = req.path === OPEN ? null : admit(env.incoming);
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

function failed(error: unknown, onFailure: (error: unknown) => void): Response {
  if (error instanceof RefusedError) return json({ detail: error.refusals }, 422);
  if (error instanceof RhythmError) {
    return json({ detail: [{ type: error.code, loc: ['body'], msg: error.message, input: null }] }, 422);
  }
  if (error instanceof TooLargeError) return closing(json({ detail: error.message }, 413));
  if (error instanceof BusyError) return busy(error);
  // The status that logs use for a closed connection. The client is gone.
  if (error instanceof GoneError) return json({ detail: error.message }, 499);
  onFailure(error);
  return json({ detail: 'Internal Server Error' }, 500);
}

/** Closes the connection after the answer: the rest of the body was not read. */
function closing(answer: Response): Response {
  answer.headers.set('connection', 'close');
  return answer;
}

function busy(error: BusyError): Response {
  const answer = closing(json({ detail: error.message }, 503));
  answer.headers.set('retry-after', String(error.retryAfter));
  return answer;
}
