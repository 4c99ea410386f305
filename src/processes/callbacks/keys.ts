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
 * The currently valid keys with their secrets; creates the wallet's first key if it has none.
 * @throws if the secret of the current key cannot be derived on this node
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
  // A wallet whose key cannot sign on this node recovers by a rotation, so a replaced key without its master key is
  // skipped.
  const signsToo = previous !== null && masterKeys.versions.includes(previous.masterVersion);
  return signsToo ? [withSecret(current), withSecret(previous)] : [withSecret(current)];
}
