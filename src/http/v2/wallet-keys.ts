/**
 * `GET` and `POST /v2/wallet/keys`: lists the keys that sign a wallet's callbacks, and creates a new one
 * (docs/design/interface.md#4.5 and #4.6).
 */
import type { FastifyInstance } from 'fastify';
import type { MasterKeys } from '../../callbacks/master-keys.ts';
import { masterKeyMissing } from '../../commands/signing-key/paid-call.ts';
import { proveCall } from '../../commands/signing-key/sign-in.ts';
import { loadSigningKeys } from '../../commands/signing-key/use.ts';
import type { Problem } from '../../errors.ts';
import type { Clock } from '../../runtime/instant.ts';
import type { EventLog } from '../../storage/event-log.ts';
import type { PaidRoute } from '../paid/paid-call.ts';
import { type PaidRouteDependencies, registerPaidRoute } from '../paid/paid-route.ts';
import { PARAMETERS } from '../parameters/described-parameters.ts';
import { echo, type Issue, refuseFor } from '../parameters/issues.ts';
import { readRequestParameters, type SentRequest } from '../parameters/request-parameters.ts';
import { sandboxKeys, sandboxRotation } from './wallet-keys-answer.ts';

export interface WalletKeysDependencies {
  readonly log: EventLog;
  readonly clock: Clock;
  readonly masterKeys: Pick<MasterKeys, 'versions'>;
}

export interface WalletKeysRequest {
  readonly sandbox: boolean;
}

const WALLET_KEYS_PATH = '/v2/wallet/keys';

export interface RotateKeyRequest extends WalletKeysRequest {
  /** Whether a proof of the wallet is required from this rotation on. */
  readonly requireSignIn: boolean;
}

/** There are no parameters, so any parameter is a mistake. */
function readWalletKeysRequest(request: SentRequest): WalletKeysRequest | Problem {
  const { sandbox, issues } = readRequestParameters(request, []);
  const [first, ...others] = issues;
  return first ? refuseFor([first, ...others]) : { sandbox };
}

const REQUIRE_SIGN_IN = 'require_sign_in';
const CHOICES = ['true', 'false'];

function readRotateKeyRequest(request: SentRequest): RotateKeyRequest | Problem {
  const { values, sandbox, issues } = readRequestParameters(request, [REQUIRE_SIGN_IN]);
  const sent = values.get(REQUIRE_SIGN_IN);
  const issue: Issue | null =
    sent === undefined || CHOICES.includes(sent)
      ? null
      : {
          parameter: REQUIRE_SIGN_IN,
          code: 'invalid_parameter',
          received: echo(sent),
          rule: `One of: ${CHOICES.join(', ')}.`,
          example: PARAMETERS[REQUIRE_SIGN_IN].example,
        };
  const [first, ...others] = [...issues, ...(issue ? [issue] : [])];
  return first ? refuseFor([first, ...others]) : { sandbox, requireSignIn: sent === 'true' };
}

const common = { path: WALLET_KEYS_PATH, queries: () => 1 } as const;

/** Ids and times of the keys. The first call of a wallet creates its first key, once the payment is settled. */
export function walletKeysRoute({ log, clock, masterKeys }: WalletKeysDependencies): PaidRoute<WalletKeysRequest> {
  return {
    ...common,
    parse: readWalletKeysRequest,
    fingerprint: () => '',
    method: 'GET',
    word: 'keys',
    description: 'The keys that sign the callbacks of your wallet; the first call creates one',
    sandbox: ({ sandbox }) => (sandbox ? sandboxKeys(clock) : null),
    async answer(_, { wallet }) {
      // A key that cannot sign on this node must not be paid for.
      const current = (await loadSigningKeys(log, wallet)).keys.at(-1);
      if (current && !masterKeys.versions.includes(current.masterVersion)) return masterKeyMissing();
      return { keyCall: 'show', answeredCases: 1 };
    },
  };
}

/** A new key and its secret, shown once. If the answer is lost, the wallet pays for another rotation. */
export function rotateKeyRoute({
  log,
  clock,
}: Pick<WalletKeysDependencies, 'log' | 'clock'>): PaidRoute<RotateKeyRequest> {
  return {
    ...common,
    parse: readRotateKeyRequest,
    // Part of what the payment is bound to: a rotation that demands proofs is not the one that does not.
    fingerprint: ({ requireSignIn }) => (requireSignIn ? `${REQUIRE_SIGN_IN}=true` : ''),
    method: 'POST',
    word: 'rotate-key',
    description: 'A new signing key for your callbacks, its secret shown once; if the answer is lost, rotate again',
    sandbox: ({ sandbox, requireSignIn }) => (sandbox ? sandboxRotation(clock, requireSignIn) : null),
    signIn: {
      statement: 'Replace the callback signing key and show the new secret',
      needsBound: true,
    },
    async answer({ requireSignIn }, { requestId, ...call }) {
      const context = { commandId: requestId, requestId, correlationId: requestId, causationId: null, actor: 'http' };
      return (
        (await proveCall({ log, clock }, call, true, context)) ?? { keyCall: 'rotate', requireSignIn, answeredCases: 1 }
      );
    },
  };
}

/** Opens a route without a body: a body of any type is read to its end and ignored. */
export function registerBodilessRoute<Parameters>(
  app: FastifyInstance,
  dependencies: PaidRouteDependencies,
  route: PaidRoute<Parameters>,
): void {
  app.register(async (scope) => {
    // Even an invalid type is accepted, because the body is never parsed.
    scope.addHook('onRequest', (request, _reply, done) => {
      delete request.headers['content-type'];
      done();
    });
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, _body, done) => done(null, undefined));
    registerPaidRoute(scope, dependencies, route);
  });
}
