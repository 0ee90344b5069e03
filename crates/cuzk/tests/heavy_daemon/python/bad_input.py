"""What no client should send, and some do. Each is refused as INVALID_ARGUMENT with the place, in under a second."""

import base64
import json
import sys
import time

import grpc

from cuzk.v1 import proving_engine_pb2 as pb
from cuzk.v1 import proving_engine_pb2_grpc as rpc

MAX_MESSAGE = 256 << 20
MAX_SECONDS = 1.0
# How long it takes to send 200 MB is up to the machine; how long it takes to refuse them, the daemon tells.
MAX_SECONDS_LARGE = 30.0
LARGE_BYTES = 100_000_000


def load(path):
    with open(path, "rb") as file:
        return pb.SubmitProofRequest.FromString(file.read())


def changed(request, **fields):
    other = pb.SubmitProofRequest()
    other.CopyFrom(request)
    for name, value in fields.items():
        if isinstance(value, list):
            del getattr(other, name)[:]
            getattr(other, name).extend(value)
        else:
            setattr(other, name, value)
    return other


def wrapper(request):
    return json.loads(request.vanilla_proof)


def rewrapped(request, edit):
    """The request with its C1 output edited as JSON."""
    outer = wrapper(request)
    inner = json.loads(base64.b64decode(outer["Phase1Out"]))
    edit(inner)
    outer["Phase1Out"] = base64.b64encode(json.dumps(inner).encode()).decode()
    return changed(request, vanilla_proof=json.dumps(outer).encode())


def replaced(request, old, new):
    """The request with a piece of the text of its C1 output replaced."""
    outer = wrapper(request)
    inner = base64.b64decode(outer["Phase1Out"])
    assert old in inner, old
    outer["Phase1Out"] = base64.b64encode(inner.replace(old, new, 1)).decode()
    return changed(request, vanilla_proof=json.dumps(outer).encode())


def truncated_base64(request):
    outer = wrapper(request)
    outer["Phase1Out"] = outer["Phase1Out"][:-3]
    return changed(request, vanilla_proof=json.dumps(outer).encode())


def wrong_sector_size(request):
    outer = wrapper(request)
    outer["SectorSize"] = 8 << 20
    return changed(request, vanilla_proof=json.dumps(outer).encode())


def partitions(inner, count):
    (shape,) = inner["vanilla_proofs"]
    found = inner["vanilla_proofs"][shape]
    inner["vanilla_proofs"][shape] = (found * count)[:count]


def swap_commitments(inner):
    inner["comm_d"], inner["comm_r"] = inner["comm_r"], inner["comm_d"]


def cases(porep, winning):
    text = porep.vanilla_proof
    yield "not JSON", changed(porep, vanilla_proof=b"hello"), "byte 0"
    yield "empty", changed(porep, vanilla_proof=b""), "byte 0"
    yield "cut in the middle", changed(porep, vanilla_proof=text[: len(text) // 2]), "byte"
    yield "truncated base64", truncated_base64(porep), "Phase1Out (byte"
    yield "wrong SectorSize", wrong_sector_size(porep), "SectorSize"
    yield "wrong registered_proof", changed(porep, registered_proof=8), "registered_proof"
    yield "unknown registered_proof", changed(porep, registered_proof=99), "99"
    yield "no partition", rewrapped(porep, lambda inner: partitions(inner, 0)), "vanilla_proofs"
    yield "9 partitions", rewrapped(porep, lambda inner: partitions(inner, 9)), "bytes long"
    yield "11 partitions", rewrapped(porep, lambda inner: partitions(inner, 11)), "bytes long"
    yield "commitments swapped", rewrapped(porep, swap_commitments), "comm_"
    yield "NaN", replaced(porep, b'"comm_d":[', b'"comm_d":[NaN,'), "comm_d"
    yield "duplicate key", replaced(porep, b'"comm_d":', b'"comm_d":[],"comm_d":'), "comm_d"
    yield "byte-order mark", changed(porep, vanilla_proof=b"\xef\xbb\xbf" + text), "byte 0"
    yield "another sector", changed(porep, sector_number=porep.sector_number + 1), "SectorNum"
    yield "another miner", changed(porep, miner_id=porep.miner_id + 1), "replica_id"
    yield "200 MB of C1", changed(porep, vanilla_proof=b"{" + b" " * 200_000_000), "bytes long"
    yield "payload of another kind", changed(porep, vanilla_proofs=[b"x"]), "vanilla_proofs"
    yield "zero proofs", changed(winning, vanilla_proofs=[]), "vanilla_proofs"
    yield "two proofs", changed(winning, vanilla_proofs=[winning.vanilla_proofs[0]] * 2), "vanilla_proofs"
    yield "cut vanilla proof", changed(winning, vanilla_proofs=[winning.vanilla_proofs[0][:100]]), "vanilla_proofs[0] is cut: it ends at byte 100"
    yield "trailing bytes", changed(winning, vanilla_proofs=[winning.vanilla_proofs[0] + b"x"]), "vanilla_proofs[0]"
    yield "200 MB of vanilla proof", changed(winning, vanilla_proofs=[b"\xff" * 200_000_000]), "vanilla_proofs[0]"
    yield "short randomness", changed(winning, randomness=b"x" * 31), "randomness"
    yield "window proof number", changed(winning, registered_proof=5), "registered_proof"
    yield "no kind", changed(winning, proof_kind=0), "proof_kind is 0"
    yield "unknown kind", changed(winning, proof_kind=9), "proof_kind is 9"
    yield "unknown priority", changed(winning, priority=7), "priority is 7"
    yield "tenant of 65 bytes", changed(winning, tenant="t" * 65), "tenant"


def refusal(call, request):
    began = time.monotonic()
    try:
        call(request)
    except grpc.RpcError as error:
        return error.code(), error.details(), time.monotonic() - began
    return grpc.StatusCode.OK, "accepted", time.monotonic() - began


def main():
    config = json.load(sys.stdin)
    options = [("grpc.max_send_message_length", MAX_MESSAGE)]
    engine = rpc.ProvingEngineStub(grpc.insecure_channel(config["address"], options=options))
    porep, winning = load(config["requests"]["porep"]), load(config["requests"]["winning"])
    failures, slowest = [], 0.0
    for name, request, place in cases(porep, winning):
        for call, message in [(engine.SubmitProof, request), (engine.Prove, pb.ProveRequest(submit=request))]:
            code, details, seconds = refusal(call, message)
            limit = MAX_SECONDS_LARGE if message.ByteSize() > LARGE_BYTES else MAX_SECONDS
            slowest = max(slowest, seconds)
            if code != grpc.StatusCode.INVALID_ARGUMENT or place not in details or seconds > limit:
                failures.append(f"{name}: {code} in {seconds:.2f} s: {details[:300]}")
    code, details, _ = refusal(engine.Prove, pb.ProveRequest())
    if code != grpc.StatusCode.INVALID_ARGUMENT:
        failures.append(f"no submit: {code}: {details}")
    json.dump({"failures": failures, "slowest_s": slowest}, sys.stdout)


main()
