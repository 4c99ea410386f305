/** `GET /v1/status`: court coverage and health in the shape of version 1, free and from ready bytes. */
import { type StatusDependencies, type StatusEndpoint, type StatusVersion, statusEndpoint } from '../v2/status.ts';
import { v1Court } from './shapes.ts';
import { V1_ENDS, v1Headers } from './sunset.ts';

const PATH = '/v1/status';

const V1: StatusVersion = {
  path: PATH,
  apiVersion: '1',
  ending: (_requestId, queriedAt) => ({ queried_at: queriedAt, query_cost: 0 }),
  court: v1Court,
  headers: (publicUrl) => v1Headers(PATH, publicUrl),
};

export function v1StatusEndpoint(dependencies: StatusDependencies): StatusEndpoint {
  const { clock } = dependencies.service;
  const endpoint = statusEndpoint(dependencies, V1);
  return {
    ...endpoint,
    // Afterwards the route rejects it, like everything else of version 1.
    answerEarly: (request, response) => clock.now() < V1_ENDS && endpoint.answerEarly(request, response),
  };
}
