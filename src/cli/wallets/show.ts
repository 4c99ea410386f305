/** `docket wallets show`: everything about one wallet, on one page. */
import type { Command } from 'commander';
import { deliveries } from '../../projections/deliveries.ts';
import { operatorActs } from '../../projections/operator-acts.ts';
import { payments } from '../../projections/payments.ts';
import { revenue } from '../../projections/revenue.ts';
import type { Figures } from '../../projections/revenue-shares.ts';
import { wallets } from '../../projections/wallets.ts';
import { MOST_DELIVERIES_COUNTED, type WalletOverview, walletOverview } from '../../queries/wallet-overview.ts';
import { systemClock, toInstant } from '../../runtime/instant.ts';
import { usdcText } from '../../solana/decimal-amount.ts';
import { readWallet } from '../audit/selection.ts';
import { type CliContext, print, printJson } from '../command.ts';
import { noteIfIncomplete } from '../list-completeness.ts';
import { jsonFigures } from '../revenue.ts';
import { withStorage } from '../service-storage.ts';
import { second } from '../status/text.ts';
import type { OpenWalletStorage } from './wallets.ts';

const HELP = `
Requests that were refused before a payment was recorded (an exceeded limit, a faulty payment) cost nothing and leave no
record, so they are not shown.

Examples:
  $ docket wallets show 7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU
  $ docket wallets show 7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU --json`;

export function addWalletsShow(group: Command, context: CliContext, open: OpenWalletStorage): void {
  group
    .command('show')
    .description('Show one wallet: spend, limits, keys, callbacks, and whether it is banned.')
    .argument('<address>', 'address of the wallet')
    .option('--json', 'one JSON object')
    .addHelpText('after', HELP)
    .action((address: string, options: { readonly json?: true }) => {
      const wallet = readWallet(address);
      return withStorage(open, context, async (storage) => {
        const overview = await walletOverview({ ...storage, clock: systemClock }, wallet);
        if (options.json) printJson(context, jsonOf(overview));
        else for (const line of linesOf(overview)) print(context, line);
        for (const projection of [wallets, revenue, payments, deliveries, operatorActs])
          await noteIfIncomplete(context, storage, projection);
      });
    });
}

function jsonOf({ record, limits, keys, validKeys, spend, ...overview }: WalletOverview) {
  return {
    wallet: overview.wallet,
    first_seen: record?.firstSeen ?? null,
    last_seen: record?.lastSeen ?? null,
    banned: overview.ban,
    spend: {
      today: jsonFigures(spend.today),
      thirty_days: jsonFigures(spend.thirtyDays),
      all_time: jsonFigures(spend.allTime),
    },
    payments: {
      settled: spend.allTime.payments,
      settled_late: spend.allTime.late,
      pending: overview.pendingPayments,
      rolled_back: spend.allTime.rolledBack,
      failed: spend.allTime.failed,
      never_sent: spend.allTime.failedQueries,
    },
    refusals: overview.refusals,
    limits: {
      requests_per_minute: jsonLimit(limits.requestsPerMinute),
      cases_per_day: jsonLimit(limits.casesPerDay),
      failed_payments_per_hour: jsonLimit(limits.failuresPerHour),
      failed_payments_of_year: limits.failuresOfYear,
    },
    proven: overview.proven,
    payments_pending_at_most: overview.mayBePending,
    keys: keys.keys.map(({ keyId, createdAt }) => ({ key_id: keyId, created_at: createdAt })),
    current_key_id: validKeys?.current.keyId ?? null,
    previous_key_id: validKeys?.previous?.keyId ?? null,
    previous_key_valid_until: validKeys?.previous?.validUntil ?? null,
    sign_in_required: keys.proofs !== null,
    deliveries: overview.deliveries,
    last_deliveries: overview.lastDeliveries.map(({ deliveryId, status, createdAt, origin }) => ({
      delivery_id: deliveryId,
      status,
      created_at: createdAt,
      origin,
    })),
  };
}

type LimitUse = WalletOverview['limits']['casesPerDay'];

const jsonLimit = ({ used, limit, resetsAt }: LimitUse) => ({
  used,
  limit,
  resets_at: resetsAt === null ? null : toInstant(resetsAt),
});

function linesOf(overview: WalletOverview): readonly string[] {
  const { wallet, record, ban } = overview;
  return [
    wallet,
    ban === null ? row('banned', 'no') : row('banned', `since ${second(ban.since)} by ${ban.by}: ${ban.reason}`),
    record === null
      ? row('seen', 'never presented a payment')
      : row('seen', `first ${second(record.firstSeen)}, last ${second(record.lastSeen)}`),
    ...spendLines(overview),
    ...limitLines(overview),
    ...keyLines(overview),
    ...deliveryLines(overview),
  ];
}

const row = (name: string, value: string): string => `  ${name.padEnd(10)} ${value}`;

function spendLines({ spend, pendingPayments, refusals }: WalletOverview): readonly string[] {
  const { today, thirtyDays, allTime } = spend;
  const paid = ({ usdc, payments, answers }: Figures): string =>
    `${usdcText(usdc)} USDC, ${payments} payments, ${answers} answers`;
  return [
    row('today', `${paid(today)} (UTC)`),
    row('30 days', paid(thirtyDays)),
    row('all time', paid(allTime)),
    row(
      'payments',
      `${allTime.payments} settled (${allTime.late} late), ${pendingPayments} pending, ${allTime.failed} failed, ${allTime.rolledBack} rolled back`,
    ),
    ...refusals.map(({ of, reason, count }, index) =>
      row(index === 0 ? 'refused' : '', `${count} × ${of === 'query' ? 'query failed' : 'payment failed'}: ${reason}`),
    ),
    ...(refusals.length === 0 ? [row('refused', 'nothing that was recorded')] : []),
  ];
}

function limitLines({ limits, proven, mayBePending }: WalletOverview): readonly string[] {
  const { requestsPerMinute, casesPerDay, failuresPerHour, failuresOfYear } = limits;
  const used = (what: string, { used, limit, resetsAt }: LimitUse): string =>
    `${used} of ${limit} ${what}${resetsAt === null ? '' : `, resets ${second(toInstant(resetsAt))}`}`;
  return [
    row('limits', used('requests a minute', requestsPerMinute)),
    row('', used('cases a day', casesPerDay)),
    row('', `${used('failed payments an hour', failuresPerHour)}; ${failuresOfYear} in a year`),
    row('standing', `${proven ? 'proven' : 'not proven'}: at most ${mayBePending} payments pending at once`),
  ];
}

function keyLines({ keys, validKeys }: WalletOverview): readonly string[] {
  if (validKeys === null) return [row('keys', 'none')];
  const { current, previous } = validKeys;
  const signIn = keys.proofs === null ? 'no sign-in required' : 'sign-in required';
  return [
    row('keys', `${current.keyId}  created ${second(current.createdAt)}  (${signIn})`),
    ...(previous === null ? [] : [row('', `${previous.keyId}  valid until ${second(previous.validUntil)}`)]),
    ...(keys.keys.length > 1 ? [row('', `${keys.keys.length} made in all`)] : []),
  ];
}

function deliveryLines({ wallet, deliveries: byStatus, lastDeliveries }: WalletOverview): readonly string[] {
  const counts = Object.entries(byStatus).map(
    ([status, count]) => `${count}${count === MOST_DELIVERIES_COUNTED ? ' or more' : ''} ${status}`,
  );
  if (lastDeliveries.length === 0) return [row('callbacks', 'none')];
  return [
    row('callbacks', counts.join(', ')),
    ...lastDeliveries.map(({ deliveryId, createdAt, status, origin }) =>
      row('', `${second(createdAt)}  ${deliveryId}  ${status.padEnd(9)}  ${origin}`),
    ),
    row('', `all: docket deliveries list --wallet ${wallet}`),
  ];
}
