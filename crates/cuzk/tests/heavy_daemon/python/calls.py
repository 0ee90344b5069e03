"""Every call of cuzk.v1, made by a client that the project did not write: gRPC for Python, with stubs that grpc_tools
generates from the published protocol file. Prints the proofs as JSON; whoever runs this verifies them."""

import json
import sys
import threading

import grpc
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

from cuzk.v1 import proving_engine_pb2 as pb
from cuzk.v1 import proving_engine_pb2_grpc as rpc

MAX_MESSAGE = 256 << 20
SERVICE = "cuzk.v1.ProvingEngine"


def connect(address):
    options = [
        ("grpc.max_send_message_length", MAX_MESSAGE),
        ("grpc.max_receive_message_length", MAX_MESSAGE),
        # The path of a unix socket is no name of a host, and HTTP/2 servers may refuse it as one.
        ("grpc.default_authority", "localhost"),
    ]
    return grpc.insecure_channel(address, options=options)


def refusal(call, request):
    """The status of a call that must fail."""
    try:
        answer = call(request)
    except grpc.RpcError as error:
        return error.code(), error.details()
    raise AssertionError(f"not refused: {answer}")


def expect(condition, message):
    if not condition:
        raise AssertionError(message)


def request_from(path, request_id):
    with open(path, "rb") as file:
        request = pb.SubmitProofRequest.FromString(file.read())
    request.request_id = request_id
    return request


def check_reflection(channel):
    database = ProtoReflectionDescriptorDatabase(channel)
    services = set(database.get_services())
    expect({SERVICE, "grpc.health.v1.Health"} <= services, f"services are {services}")
    pool = DescriptorPool(database)
    method = pool.FindServiceByName(SERVICE).FindMethodByName("GetStatus")
    request = GetMessageClass(method.input_type)
    response = GetMessageClass(method.output_type)
    call = channel.unary_unary(
        f"/{SERVICE}/GetStatus",
        request_serializer=request.SerializeToString,
        response_deserializer=response.FromString,
    )
    expect(len(call(request()).queues) == 4, "a call made from reflection alone")


def check_health(channel):
    stub = health_pb2_grpc.HealthStub(channel)
    for service in ["", SERVICE]:
        answer = stub.Check(health_pb2.HealthCheckRequest(service=service))
        expect(answer.status == health_pb2.HealthCheckResponse.SERVING, f"{service!r}: {answer}")


def evict_when_idle(engine, circuit):
    """Evicts; a key that a cancelled job still uses is refused as busy until that partition is done."""
    while True:
        try:
            return engine.EvictSRS(pb.EvictSrsRequest(circuit_id=circuit))
        except grpc.RpcError as error:
            expect(error.code() == grpc.StatusCode.RESOURCE_EXHAUSTED, f"{error}")


def check_keys(engine):
    answer = engine.Capabilities(pb.CapabilitiesRequest())
    expect(list(answer.circuit_ids) == ["wpost-2k", "winning-2k"], f"{answer.circuit_ids}")
    expect(set(answer.proof_kinds) == {pb.WINDOW_POST_PARTITION, pb.WINNING_POST}, f"{answer.proof_kinds}")
    expect(answer.max_message_bytes == MAX_MESSAGE, f"{answer.max_message_bytes}")
    winning = pb.PreloadSrsRequest(circuit_id="winning-2k")
    evict_when_idle(engine, "winning-2k")
    first = engine.PreloadSRS(winning)
    expect(not first.already_loaded and first.load_time_ms > 0, f"{first}")
    expect(engine.PreloadSRS(winning).already_loaded, "resident now")
    tiers = {key.circuit_id: key.tier for key in engine.GetStatus(pb.GetStatusRequest()).loaded_srs}
    expect(tiers["winning-2k"] != pb.SRSStatus.COLD, f"{tiers}")
    evicted = engine.EvictSRS(pb.EvictSrsRequest(circuit_id="winning-2k"))
    expect(evicted.was_loaded and evicted.freed_bytes > 0, f"{evicted}")
    again = engine.EvictSRS(pb.EvictSrsRequest(circuit_id="winning-2k"))
    expect(not again.was_loaded and again.freed_bytes == 0, f"{again}")
    code, details = refusal(engine.PreloadSRS, pb.PreloadSrsRequest(circuit_id="wining-2k"))
    expect(code == grpc.StatusCode.INVALID_ARGUMENT and "winning-2k" in details, details)
    code, details = refusal(engine.PreloadSRS, pb.PreloadSrsRequest(circuit_id="snap-2k"))
    expect(code == grpc.StatusCode.FAILED_PRECONDITION and "snap-2k" in details, details)


def check_jobs(engine, paths, prefix):
    proofs = []
    submitted = engine.SubmitProof(request_from(paths["winning"], f"{prefix}-await"))
    expect(not submitted.joined and submitted.job_id and submitted.assigned_gpu.startswith("cpu"), f"{submitted}")
    early = engine.AwaitProof(pb.AwaitProofRequest(job_id=submitted.job_id, timeout_ms=1))
    expect(early.status == pb.AwaitProofResponse.TIMEOUT and early.job_id == submitted.job_id, f"{early.status}")
    stages = [step for step in engine.WatchJob(pb.WatchJobRequest(job_id=submitted.job_id))]
    expect(stages[-1].state == pb.JOB_STATE_COMPLETED, f"{stages[-1].state}")
    expect("start" in [step.stage for step in stages], f"{[step.stage for step in stages]}")
    done = engine.AwaitProof(pb.AwaitProofRequest(job_id=submitted.job_id))
    expect(done.status == pb.AwaitProofResponse.COMPLETED and len(done.proof) == 192, f"{done}")
    expect(done.total_ms >= done.gpu_compute_ms > 0 and len(done.devices) == 1, f"{done}")
    expect(stages[-1].result.proof == done.proof, "the watched result is the awaited one")
    proofs.append(["winning", done.proof.hex()])

    again = engine.Prove(pb.ProveRequest(submit=request_from(paths["winning"], f"{prefix}-await"))).result
    expect(again.job_id == done.job_id and again.proof == done.proof, "the same request gives the kept result")
    other = engine.Prove(pb.ProveRequest(submit=request_from(paths["wpost"], f"{prefix}-await"))).result
    expect(other.job_id != done.job_id and other.status == pb.AwaitProofResponse.COMPLETED, f"{other}")
    proofs.append(["wpost", other.proof.hex()])
    return proofs


def check_twins(engine, paths, prefix):
    """Two clients send the same request at the same time: one job, one proof, two answers."""
    answers = []

    def prove():
        answers.append(engine.Prove(pb.ProveRequest(submit=request_from(paths["winning"], f"{prefix}-twin"))).result)

    threads = [threading.Thread(target=prove) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expect(len(answers) == 2 and answers[0].job_id == answers[1].job_id, f"{answers}")
    expect(answers[0].proof == answers[1].proof, "one job has one proof")
    return ["winning", answers[0].proof.hex()]


def check_cancel(engine, paths, prefix):
    jobs = [engine.SubmitProof(request_from(paths["winning"], f"{prefix}-cancel-{index}")).job_id for index in range(3)]
    listed = [job.job_id for job in engine.ListJobs(pb.ListJobsRequest(active_only=True)).jobs]
    expect(set(jobs) <= set(listed), f"{jobs} are not all in {listed}")
    for job in jobs:
        expect(engine.CancelProof(pb.CancelProofRequest(job_id=job)).was_running, job)
    for job in jobs:
        ended = engine.AwaitProof(pb.AwaitProofRequest(job_id=job, timeout_ms=20000))
        expect(ended.status == pb.AwaitProofResponse.CANCELLED, f"{ended}")
        expect(not engine.CancelProof(pb.CancelProofRequest(job_id=job)).was_running, "ended already")
    unknown = "0" * 32
    for call, request in [
        (engine.CancelProof, pb.CancelProofRequest(job_id=unknown)),
        (engine.AwaitProof, pb.AwaitProofRequest(job_id=unknown)),
        (engine.AwaitProof, pb.AwaitProofRequest(job_id="porep-1000-1")),
    ]:
        code, details = refusal(call, request)
        expect(code == grpc.StatusCode.NOT_FOUND, f"{code} {details}")


def check_deadline(engine, paths, prefix):
    request = request_from(paths["winning"], f"{prefix}-late")
    request.deadline_ms = 1
    try:
        result = engine.Prove(pb.ProveRequest(submit=request)).result
    except grpc.RpcError as error:
        expect(error.code() == grpc.StatusCode.INVALID_ARGUMENT and "deadline" in error.details(), f"{error}")
        return
    expect(result.status == pb.AwaitProofResponse.FAILED and "deadline" in result.error_message, f"{result}")


def check_status(engine):
    status = engine.GetStatus(pb.GetStatusRequest())
    expect(status.gpus[0].name.startswith("cpu") and status.health == "serving", f"{status}")
    expect(status.total_proofs_completed >= 3 and status.budget_bytes > 0, f"{status}")
    queues = [queue.proof_kind for queue in status.queues]
    expect(queues == ["porep-c2", "snap-update", "window-post", "winning-post"], f"{queues}")
    text = engine.GetMetrics(pb.GetMetricsRequest()).prometheus_text
    for line in ['cuzk_jobs_ended_total{kind="winning-post",ending="completed"}', 'cuzk_stage_seconds_bucket{stage="start"']:
        expect(line in text, f"{line} is not in\n{text}")


def main():
    config = json.load(sys.stdin)
    channel = connect(config["address"])
    engine = rpc.ProvingEngineStub(channel)
    paths, prefix = config["requests"], config["prefix"]
    check_health(channel)
    check_reflection(channel)
    check_keys(engine)
    proofs = check_jobs(engine, paths, prefix)
    proofs.append(check_twins(engine, paths, prefix))
    check_cancel(engine, paths, prefix)
    check_deadline(engine, paths, prefix)
    check_status(engine)
    json.dump(proofs, sys.stdout)


main()
