/** The events that make up the read model of cases. */
import type { ContentRedacted } from '../events/content.ts';
import type { DocketAliasEvent, DocketEvent } from '../events/docket.ts';
import type { EventOf } from '../events/event.ts';

export type CaseEvent = DocketEvent | DocketAliasEvent | EventOf<typeof ContentRedacted>;
