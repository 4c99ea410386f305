/** One entry of the Supreme Court's file, in its list of proceedings and orders. */

import type { Court } from '../../courts/court.ts';
import { maskedText } from '../../dockets/mask.ts';
import { DOCUMENT_NUMBER } from '../../dockets/match-in-place.ts';
import type { Attachment, SnapshotEntry } from '../../dockets/snapshot.ts';
import { clip, MAX_TEXT } from '../../dockets/text.ts';
import { parseUrl } from '../../runtime/parse-url.ts';
import { filerIn, saysSealed } from '../juriscraper/entry.ts';
import { readDate } from './date.ts';
import { plainText } from './plain-text.ts';
import { RawLink, RawProceeding } from './schema.ts';

const MAX_LINKS = 500;
const MAX_LINK_TEXT = 300;
/** Tags and entities are longer than what they stand for. */
const MAX_HTML = MAX_TEXT * 4;

/** `…/DocketPDF/{term}/{case}/{document number}/{when it was made ready}_{file}` */
const DOCUMENT_PATH = /^\/DocketPDF\/[^/]{1,20}\/[^/]{1,40}\/(\d{1,12})\/[^/]{1,500}$/i;
const COURT_HOST = /^(?:www\.)?supremecourt\.gov$/i;

interface Link {
  readonly description: string | null;
  /** Null if the address is not one of the Court's documents. */
  readonly url: string | null;
  readonly documentNumber: string | null;
}

/** Null for an item that shows nothing. */
export function readProceeding(item: unknown, court: Court): SnapshotEntry | null {
  const parsed = RawProceeding.safeParse(item);
  if (!parsed.success) return null;
  const { Date: date, Text: html, Links: items } = parsed.data;
  const description = maskedText(plainText(clip(html ?? '', MAX_HTML)), MAX_TEXT, court.country);
  const links = (items ?? []).slice(0, MAX_LINKS).flatMap((link) => readLink(link, court));
  const documentNumber = links.find((link) => link.documentNumber !== null)?.documentNumber ?? null;
  if (description === '' && documentNumber === null) return null;
  return {
    entryNumber: null,
    dateFiled: readDate(date),
    dateEntered: null,
    filedAt: null,
    enteredAt: null,
    description,
    shortDescription: null,
    filedBy: filerIn(description),
    documentIdentifier: null,
    documentIdentifierType: 'none',
    sourceIds: documentNumber === null ? {} : { [DOCUMENT_NUMBER]: documentNumber },
    externalUrl: links[0]?.url ?? null,
    attachments: links.slice(1).map(
      ({ description: name }, index): Attachment => ({
        attachmentNumber: index + 1,
        description: name,
        documentIdentifier: null,
        pageCount: null,
      }),
    ),
    sealed: saysSealed(description),
    ...(typeof html === 'string' && description === '' ? { blanked: true as const } : {}),
  };
}

function readLink(item: unknown, court: Court): readonly Link[] {
  const parsed = RawLink.safeParse(item);
  if (!parsed.success) return [];
  const { Description, DocumentUrl } = parsed.data;
  const text = plainText(clip(Description ?? '', MAX_LINK_TEXT * 4));
  const description = maskedText(text, MAX_LINK_TEXT, court.country) || null;
  const address = DocumentUrl && DocumentUrl.length <= 2_000 ? parseUrl(DocumentUrl) : null;
  const isOfCourt = address !== null && /^https?:$/.test(address.protocol) && COURT_HOST.test(address.hostname);
  const documentNumber = address && (DOCUMENT_PATH.exec(address.pathname)?.[1] ?? null);
  if (!isOfCourt || documentNumber === null || address.port !== '') {
    return [{ description, url: null, documentNumber: null }];
  }
  return [{ description, url: `https://www.supremecourt.gov${address.pathname}`, documentNumber }];
}
