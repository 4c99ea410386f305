/** The keys that an attempt is signed with. */
import type { MasterKeys } from '../../callbacks/master-keys.ts';
import type { CallbackKey } from '../../callbacks/signature.ts';
import type { ScheduledDelivery } from '../../commands/delivery/delivery.ts';
import { type SigningKey, validKeysAt } from '../../commands/signing-key/signing-key.ts';
import { ensureSigningKey, loadSigningKeys } from '../../commands/signing-key/use.ts';
import type { Clock } from '../../runtime/instant.ts';
import type { CommandContext, EventLog } from '../../storage/event-log.ts';

export interface KeyPorts {
  readonly log: EventLog;
  readonly clock: Clock;
  readonly masterKeys: MasterKeys;
  newKeyId(): string;
}

/** The newest first. */
export type SigningKeys = readonly [CallbackKey, ...CallbackKey[]];

/**
 * The keys that are valid now, with their secrets; the wallet's first is made where it has none.
 * @throws where the secret of the current key cannot be derived here
 */
export async function signingKeysFor(
  ports: KeyPorts,
  { facts: { wallet } }: Pick<ScheduledDelivery, 'facts'>,
  context: CommandContext,
): Promise<SigningKeys> {
  const { log, clock, masterKeys } = ports;
  const valid =
    validKeysAt(await loadSigningKeys(log, wallet), clock.now()) ??
    validKeysAt(await ensureSigningKey(ports, wallet, masterKeys.newest, context), clock.now());
  if (!valid) throw new Error(`the wallet ${wallet} has no signing key after one was made`);
  const withSecret = ({ keyId, masterVersion }: SigningKey): CallbackKey => ({
    keyId,
    secret: masterKeys.secretOf({ wallet, keyId, masterVersion }),
  });
  const { current, previous } = valid;
  // A wallet whose key could not sign here recovers by a rotation: its earlier key must not prevent that.
  const signsToo = previous !== null && masterKeys.versions.includes(previous.masterVersion);
  return signsToo ? [withSecret(current), withSecret(previous)] : [withSecret(current)];
}
