/** The server's description of itself. */
import { BATCH_CHARGING } from '../paid/batch-charging.ts';
import { API_VERSION } from '../v2/status.ts';
import { UNTRUSTED_RULE } from './untrusted-text.ts';

export const SERVER_INFO = { name: 'docket-monitor', title: 'Docket Monitor', version: API_VERSION } as const;

/** For models that have seen no tool yet: the purpose, the price and how to pay. */
export const INSTRUCTIONS = `US and Canadian court dockets: the present state of a case, and the filings that are new since you last looked.

Start with service_court_list (search by court name) for the court_code and the form of its case numbers, then call service_case_query. Keep meta.queried_at of each answer and send it, unchanged, as last_checked the next time: delta.new_filings then holds exactly what is new. service_case_monitor only tells whether and how much is new.

service_status, service_court_list and service_pricing are free. Each query costs 0.99 USD in USDC on Solana, without account or key. Pay in two steps: (1) call the tool without payment_tx; its arguments are checked and the answer is payment instructions, which is not an error; (2) sign the transfer that they describe without sending it, and call the tool again with the same arguments and payment_tx. Money moves only if there is an answer: whatever fails, is refused or is rate-limited costs nothing, and the result says so. ${BATCH_CHARGING} Never pay again while payment.status is "pending": read payment.result_url instead.

${UNTRUSTED_RULE}`;
