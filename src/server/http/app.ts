/** The HTTP application: dispatches requests to the routes of `build-server.ts`, and answers errors. */
import type { HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import type { AccessCheck } from '../access-control.js';
import type { Metrics } from '../metrics.js';
import { InvalidRequestError, inBody, NOT_FOUND, StatusError, validationErrors } from '../protocol/errors.js';
import { json } from './json-response.js';
import type { Route } from './openapi.js';
import { HttpRequest } from './request.js';

export interface AppOptions {
  readonly routes: readonly Route[];
  readonly rejectionOf: AccessCheck;
  /** The maximum size of a batch request in bytes. */
  readonly bodyLimit: number;
  /** The maximum size of a message of OpenEnv in bytes. */
  readonly frameLimit: number;
  readonly metrics: Metrics;
  readonly onFailure: (error: unknown) => void;
}

interface Env {
  readonly Bindings: HttpBindings;
}

/** The paths without an access check, for health checks. */
const UNPROTECTED_PATHS: readonly string[] = ['/health', '/ready'];

/** Builds the application: measures requests, checks access, and calls the handlers of the routes. */
export function createApp({ routes, rejectionOf, metrics, onFailure, ...limits }: AppOptions): Hono<Env> {
  const app = new Hono<Env>();
  app.use(measureRequests(metrics, new Set(routes.map(({ path }) => path))));
  app.use(checkAccess(rejectionOf));
  for (const { method, path, isMessage, acceptsFrames, handle } of routes) {
    const limit = isMessage ? limits.frameLimit : limits.bodyLimit;
    app[method](path, ({ env }) => handle(new HttpRequest(env.incoming, env.outgoing, limit, acceptsFrames)));
  }
  app.notFound((context) => notFound(context, routes));
  app.onError((error) => errorResponse(error, onFailure));
  return app;
}

type Next = () => Promise<void>;

/** Measures the time of requests by route. Unknown paths share one label, so that clients cannot create labels. */
function measureRequests(metrics: Metrics, paths: ReadonlySet<string>) {
  return async (context: Context, next: Next): Promise<void> => {
    const { path } = context.req;
    const end = metrics.requests.startTimer({ route: paths.has(path) ? path : 'none' });
    await next();
    end({ status: context.res.status });
  };
}

function checkAccess(rejectionOf: AccessCheck) {
  return async ({ req, env }: Context<Env>, next: Next): Promise<Response | undefined> => {
    const rejection = UNPROTECTED_PATHS.includes(req.path) ? null : rejectionOf(env.incoming);
    if (rejection !== null) return statusResponse(rejection);
    await next();
    return undefined;
  };
}

function notFound({ req }: Context, routes: readonly Route[]): Response {
  const allowed = routes.filter(({ path }) => path === req.path).map(({ method }) => method.toUpperCase());
  return statusResponse(
    allowed.length === 0
      ? NOT_FOUND
      : new StatusError(405, 'Method Not Allowed', { allow: allowed.join(', ') }),
  );
}

function errorResponse(error: unknown, onFailure: (error: unknown) => void): Response {
  if (error instanceof StatusError) return statusResponse(error);
  if (error instanceof InvalidRequestError) return json({ detail: error.errors }, 422);
  const errors = validationErrors(error);
  if (errors !== null) return json({ detail: inBody(errors) }, 422);
  onFailure(error);
  return json({ detail: 'Internal Server Error' }, 500);
}

const statusResponse = ({ status, message, headers }: StatusError): Response =>
  json({ detail: message }, status, headers);
