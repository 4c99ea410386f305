/** The routes by path: for `405` with `Allow`, and for suggestions in a `404`. */
import type { FastifyInstance } from 'fastify';
import { nearestName } from './nearest-name.ts';

declare module 'fastify' {
  interface FastifyInstance {
    routeTable: RouteTable;
  }
  interface FastifyContextConfig {
    /** Whether nobody may learn from any answer that the route exists. */
    readonly isSecret?: boolean;
  }
}

export interface RouteTable {
  /** Every path pattern with its methods. */
  all(): ReadonlyMap<string, ReadonlySet<string>>;
  /** Methods of a path, `OPTIONS` last; empty if the path is unknown. */
  methodsAt(path: string): readonly string[];
  /** The path that was probably meant; otherwise the documentation, if it is served. */
  suggestionFor(path: string): string | null;
}

/** The page that lists every endpoint. */
const DOCUMENTATION = '/docs';

/** Collects the routes that are added to the instance from now on. */
export function collectRoutes(app: FastifyInstance): RouteTable {
  const methodsByPath = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ url, method, config }) => {
    if (config?.isSecret) return;
    const methods = methodsByPath.get(url) ?? new Set<string>();
    for (const each of [method].flat()) methods.add(each);
    methodsByPath.set(url, methods);
  });

  return {
    all: () => methodsByPath,
    methodsAt(path) {
      const methods = methodsByPath.get(path) ?? methodsOfPattern(path);
      return methods ? [...methods, 'OPTIONS'] : [];
    },
    suggestionFor(path) {
      const plain = plainForm(path);
      if (methodsByPath.has(plain)) return plain;
      const fixed = [...methodsByPath.keys()].filter((known) => !known.includes(':'));
      return nearestName(plain, fixed) ?? (methodsByPath.has(DOCUMENTATION) ? DOCUMENTATION : null);
    },
  };

  function methodsOfPattern(path: string): Set<string> | undefined {
    const parts = path.split('/');
    for (const [pattern, methods] of methodsByPath) {
      if (!pattern.includes(':')) continue;
      const expected = pattern.split('/');
      const fits = expected.every((part, i) => (part.startsWith(':') ? parts[i] !== '' : part === parts[i]));
      if (fits && expected.length === parts.length) return methods;
    }
    return undefined;
  }
}

/** A normalized form of a loosely typed path. Used only for suggestions: no request is routed by it. */
function plainForm(path: string): string {
  const segments: string[] = [];
  const readable = decoded(path.slice(0, 200)).replace(/[;\p{Cc}][^/]*/gu, '');
  for (const segment of readable.toLowerCase().split('/')) {
    if (segment === '..') segments.pop();
    else if (segment !== '' && segment !== '.') segments.push(segment);
  }
  return `/${segments.join('/')}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The path of a request target in any of its forms (RFC 9112, 3.2). */
export function pathOf(target: string): string {
  const end = target.search(/[?#]/);
  const path = end === -1 ? target : target.slice(0, end);
  return path.startsWith('/') ? path : path.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*/i, '') || '/';
}

/** The same as the router understands it: percent-encoded letters are decoded, `%2F` is not a slash. */
export function plainPath(target: string): string {
  const path = pathOf(target);
  if (!path.includes('%')) return path;
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}
