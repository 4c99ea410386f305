/** The events from which the read model of cases is built. */
import type { ContentRedacted } from '../events/content.ts';
import type { DocketAliasEvent, DocketEvent } from '../events/docket.ts';
import type { EventOf } from '../events/event.ts';

export type CaseEvent = DocketEvent | DocketAliasEvent | EventOf<typeof ContentRedacted>;
