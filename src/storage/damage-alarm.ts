/** Alerts operators about damaged stored content, once for each blob, no matter which caller finds it. */
import { type BlobName, CorruptPayload, type PayloadStore } from './payload-store.ts';

/** How many reported blobs are remembered. Beyond this, some are reported again. */
const MOST_REMEMBERED = 10_000;

/** The same store; `tell` is called the first time that a blob's bytes are found damaged. */
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
