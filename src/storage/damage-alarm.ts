/** Tells operators of stored content that is damaged, once for each blob, whoever meets it. */
import { type BlobName, CorruptPayload, type PayloadStore } from './payload-store.ts';

/** Of how many it is known that they were told of: past it some are told of again. */
const MOST_REMEMBERED = 10_000;

/** The same store; `tell` is called for each blob whose bytes are met damaged, the first time only. */
export function withDamageAlarm(payloads: PayloadStore, tell: (blob: BlobName) => void): PayloadStore {
  const told = new Set<BlobName>();
  const watched = async <Content>(reading: Promise<Content>): Promise<Content> => {
    try {
      return await reading;
    } catch (error) {
      if (error instanceof CorruptPayload && !told.has(error.blob)) {
        if (told.size >= MOST_REMEMBERED) told.clear();
        told.add(error.blob);
        tell(error.blob);
      }
      throw error;
    }
  };
  return {
    put: (kind, content) => payloads.put(kind, content),
    seal: (kind, content) => payloads.seal(kind, content),
    store: (payload) => payloads.store(payload),
    get: (name) => watched(payloads.get(name)),
    getEncoded: (name) => watched(payloads.getEncoded(name)),
    getMany: (names) => watched(payloads.getMany(names)),
    resolve: (names) => watched(payloads.resolve(names)),
    remove: (name, replacement) => payloads.remove(name, replacement),
    list: (kind, olderThan) => payloads.list(kind, olderThan),
    check: () => payloads.check(),
    close: () => payloads.close(),
  };
}
