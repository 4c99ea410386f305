/** `service_status`: the answer of `GET /v2/status` without the list of courts, which would fill a model's context. */
import { statusCourts } from '../../../courts/status-courts.ts';
import { operationalStatus } from '../../admin/health.ts';
import type { Meta } from '../../meta.ts';
import { API_VERSION, type StatusDependencies } from '../../v2/status.ts';
import { freeTool } from '../free-tool.ts';
import type { Tool } from '../tool.ts';

export function statusTool({ service, courts, sourceOf, health }: StatusDependencies): Tool {
  const { coverage_summary } = statusCourts(courts, sourceOf);
  const cut = {
    omitted_fields: ['courts'],
    total_entries: courts.length,
    entries_included: 0,
    continuation_hint: `Call service_court_list, with search, country or region: all ${courts.length} courts at once would fill your context. GET ${service.publicUrl}/v2/status has all of them.`,
  };
  const make = (own: Meta): string => {
    const parts = health();
    const components = Object.entries(parts).map(([name, { status, since }]) => [name, { status, since }]);
    return JSON.stringify({
      meta: { ...own, truncated: true, truncation_details: cut },
      api_version: API_VERSION,
      changelog_url: `${service.publicUrl}/docs#changelog`,
      operational_status: operationalStatus(parts),
      components: Object.fromEntries(components),
      courts: [],
      coverage_summary,
    });
  };
  return freeTool(service, {
    name: 'service_status',
    title: 'Service status',
    description:
      'Health of this service, API version and how many courts are covered: GET /v2/status without its list of courts. Free. For a court_code or the form of case numbers use service_court_list instead.',
    parameters: {},
    returns: {
      operational_status: { type: 'string', description: 'nominal, degraded, maintenance or incident' },
      components: { type: 'object' },
      coverage_summary: { type: 'object' },
    },
    answer: (_values, meta) => make(meta),
  });
}
