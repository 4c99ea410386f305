"""A user of the client that openapi-python-client generates, paying with x402's own client. Arguments: URL, RPC URL."""

import asyncio
import json
import sys
from typing import Literal, TypedDict

from docket_monitor_client import AuthenticatedClient
from docket_monitor_client.api.cases import get_case, post_cases_batch
from docket_monitor_client.models import BatchAnswer, BatchFailure, BatchQuery, BatchRequest, BatchSuccess, CaseAnswer
from x402 import x402Client
from x402.http.clients.httpx import x402AsyncTransport
from x402.mechanisms.svm.exact import ExactSvmScheme
from x402.mechanisms.svm.signers import KeypairSigner

COURT = "cand"
KNOWN = BatchQuery(case_id="3:24-cv-00042", court_code=COURT)
UNKNOWN = BatchQuery(case_id="3:24-cv-09999", court_code=COURT)


def paying(url: str, rpc_url: str) -> AuthenticatedClient:
    with open("wallet.json") as file:
        signer = KeypairSigner.from_bytes(bytes(json.load(file)))
    client = x402Client()
    client.set_spend_controls({"max_amount_per_payment": "$2"})
    client.register("solana:*", ExactSvmScheme(signer, rpc_url=rpc_url))
    # The payment is the only credential: the transport adds it, so the generated client sends a header of no meaning.
    transport = x402AsyncTransport(client)
    return AuthenticatedClient(url, token="none", auth_header_name="X-Unused", httpx_args={"transport": transport})


class Success(TypedDict):
    status: Literal["success"]
    caseName: str | None


class Failure(TypedDict):
    status: Literal["error"]
    code: str
    charged: bool


def entry(result: BatchSuccess | BatchFailure) -> Success | Failure:
    if isinstance(result, BatchSuccess):
        return {"status": result.status, "caseName": result.response.case.case_name}
    return {"status": result.status, "code": result.error.code, "charged": result.error.details.charged}


async def use(url: str, rpc_url: str) -> dict[str, object]:
    client = paying(url, rpc_url)
    sandbox = await post_cases_batch.asyncio(client=client, body=BatchRequest(queries=[KNOWN]), test="1")
    assert isinstance(sandbox, BatchAnswer), sandbox
    case = await get_case.asyncio(client=client, case_id=KNOWN.case_id, court_code=COURT)
    assert isinstance(case, CaseAnswer), case
    batch = await post_cases_batch.asyncio(client=client, body=BatchRequest(queries=[KNOWN, UNKNOWN]))
    assert isinstance(batch, BatchAnswer), batch
    return {
        "sandbox": [entry(result) for result in sandbox.results],
        "caseName": case.case.case_name,
        "batch": [entry(result) for result in batch.results],
    }


print(json.dumps(asyncio.run(use(*sys.argv[1:]))))
