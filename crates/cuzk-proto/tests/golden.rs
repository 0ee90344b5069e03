//! Nodes in the field speak this interface. Whoever edits the protocol file must not change what they see, so the numbers
//! and types of the original interface stand here a second time.

use std::collections::BTreeMap;

use cuzk_proto::v1::FILE_DESCRIPTOR_SET;
use prost::Message as _;
use prost_types::{
    DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorProto,
    FileDescriptorSet, MethodDescriptorProto,
    field_descriptor_proto::{Label, Type},
};

/// Messages of the original interface: each field as `name:type=number`.
const MESSAGES: &[(&str, &str)] = &[
    (
        "SubmitProofRequest",
        "request_id:string=1 proof_kind:ProofKind=2 sector_size:uint64=3 registered_proof:uint64=4 \
         priority:Priority=5 vanilla_proof:bytes=10 vanilla_proofs:repeated-bytes=11 \
         sector_number:uint64=20 miner_id:uint64=21 randomness:bytes=22 partition_index:uint32=23 \
         comm_r_old:bytes=30 comm_r_new:bytes=31 comm_d_new:bytes=32",
    ),
    (
        "SubmitProofResponse",
        "job_id:string=1 queue_position:uint32=2 assigned_gpu:string=3",
    ),
    ("AwaitProofRequest", "job_id:string=1 timeout_ms:uint64=2"),
    (
        "AwaitProofResponse",
        "job_id:string=1 status:Status=2 proof:bytes=3 error_message:string=4 \
         queue_wait_ms:uint64=10 srs_load_ms:uint64=11 synthesis_ms:uint64=12 \
         gpu_compute_ms:uint64=13 total_ms:uint64=14",
    ),
    ("ProveRequest", "submit:SubmitProofRequest=1"),
    ("ProveResponse", "result:AwaitProofResponse=1"),
    ("CancelProofRequest", "job_id:string=1"),
    ("CancelProofResponse", "was_running:bool=1"),
    ("GetStatusRequest", ""),
    (
        "GetStatusResponse",
        "gpus:repeated-GPUStatus=1 loaded_srs:repeated-SRSStatus=2 queues:repeated-QueueStatus=3 \
         total_proofs_completed:uint64=4 total_proofs_failed:uint64=5 uptime_seconds:uint64=6 \
         pinned_memory_bytes:uint64=7 pinned_memory_limit_bytes:uint64=8",
    ),
    (
        "GPUStatus",
        "ordinal:uint32=1 name:string=2 vram_total_bytes:uint64=3 vram_free_bytes:uint64=4 \
         current_job_id:string=5 current_proof_kind:string=6",
    ),
    (
        "SRSStatus",
        "circuit_id:string=1 tier:Tier=2 size_bytes:uint64=3 ref_count:uint32=4",
    ),
    (
        "QueueStatus",
        "proof_kind:string=1 pending:uint32=2 in_progress:uint32=3",
    ),
    ("PreloadSrsRequest", "circuit_id:string=1"),
    (
        "PreloadSrsResponse",
        "already_loaded:bool=1 load_time_ms:uint64=2",
    ),
    ("EvictSrsRequest", "circuit_id:string=1"),
    ("EvictSrsResponse", "was_loaded:bool=1 freed_bytes:uint64=2"),
    ("GetMetricsRequest", ""),
    ("GetMetricsResponse", "prometheus_text:string=1"),
];

/// Enumerations of the original interface, nested ones with the message before them.
const ENUMS: &[(&str, &str)] = &[
    (
        "ProofKind",
        "PROOF_KIND_UNSPECIFIED=0 POREP_SEAL_COMMIT=1 SNAP_DEALS_UPDATE=2 \
         WINDOW_POST_PARTITION=3 WINNING_POST=4",
    ),
    (
        "Priority",
        "PRIORITY_UNSPECIFIED=0 LOW=1 NORMAL=2 HIGH=3 CRITICAL=4",
    ),
    (
        "AwaitProofResponse.Status",
        "UNKNOWN=0 COMPLETED=1 FAILED=2 CANCELLED=3 TIMEOUT=4",
    ),
    ("SRSStatus.Tier", "HOT=0 WARM=1 COLD=2"),
];

/// Methods of the original interface: name, request, response.
const METHODS: &[(&str, &str, &str)] = &[
    ("SubmitProof", "SubmitProofRequest", "SubmitProofResponse"),
    ("AwaitProof", "AwaitProofRequest", "AwaitProofResponse"),
    ("Prove", "ProveRequest", "ProveResponse"),
    ("CancelProof", "CancelProofRequest", "CancelProofResponse"),
    ("GetStatus", "GetStatusRequest", "GetStatusResponse"),
    ("GetMetrics", "GetMetricsRequest", "GetMetricsResponse"),
    ("PreloadSRS", "PreloadSrsRequest", "PreloadSrsResponse"),
    ("EvictSRS", "EvictSrsRequest", "EvictSrsResponse"),
];

/// Methods of this project.
const ADDED_METHODS: [&str; 3] = ["WatchJob", "ListJobs", "Capabilities"];

/// The first number of an added field in an original message.
const FIRST_ADDED: i32 = 100;

fn file() -> FileDescriptorProto {
    let set = FileDescriptorSet::decode(FILE_DESCRIPTOR_SET).expect("the set decodes");
    let mut files = set.file;
    assert_eq!(files.len(), 1, "the interface is one file");
    files.remove(0)
}

/// `name:type=number`, types without their package.
fn spelled(field: &FieldDescriptorProto) -> String {
    let kind = match field.r#type() {
        Type::Message | Type::Enum => {
            let name = field.type_name();
            name.rsplit('.').next().unwrap_or(name).to_owned()
        }
        scalar => scalar
            .as_str_name()
            .trim_start_matches("TYPE_")
            .to_lowercase(),
    };
    let repeated = if field.label() == Label::Repeated {
        "repeated-"
    } else {
        ""
    };
    format!("{}:{repeated}{kind}={}", field.name(), field.number())
}

fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
    words.sort();
    words
}

fn original_fields(message: &DescriptorProto) -> Vec<String> {
    let mut fields: Vec<String> = message
        .field
        .iter()
        .filter(|field| field.number() < FIRST_ADDED)
        .map(spelled)
        .collect();
    fields.sort();
    fields
}

fn all_enums(file: &FileDescriptorProto) -> BTreeMap<String, EnumDescriptorProto> {
    let top = file
        .enum_type
        .iter()
        .map(|found| (found.name().to_owned(), found.clone()));
    let nested = file.message_type.iter().flat_map(|message| {
        message.enum_type.iter().map(|found| {
            let name = format!("{}.{}", message.name(), found.name());
            (name, found.clone())
        })
    });
    top.chain(nested).collect()
}

#[test]
fn every_field_of_the_original_messages_has_its_number_and_type() {
    let file = file();
    for (name, fields) in MESSAGES {
        let message = file
            .message_type
            .iter()
            .find(|message| message.name() == *name)
            .unwrap_or_else(|| panic!("{name} is gone"));
        assert_eq!(original_fields(message), words(fields), "{name}");
    }
}

#[test]
fn every_value_of_the_original_enumerations_has_its_number() {
    let enums = all_enums(&file());
    for (name, values) in ENUMS {
        let found = enums.get(*name).unwrap_or_else(|| panic!("{name} is gone"));
        let mut spelled: Vec<String> = found
            .value
            .iter()
            .map(|value| format!("{}={}", value.name(), value.number()))
            .collect();
        spelled.sort();
        assert_eq!(spelled, words(values), "{name}");
    }
}

#[test]
fn the_service_has_its_path_and_every_original_method_is_unary() {
    let file = file();
    assert_eq!(file.package(), "cuzk.v1");
    assert_eq!(file.syntax(), "proto3");
    assert_eq!(file.service.len(), 1);
    let service = &file.service[0];
    assert_eq!(service.name(), "ProvingEngine");
    for (name, input, output) in METHODS {
        let method = service
            .method
            .iter()
            .find(|method| method.name() == *name)
            .unwrap_or_else(|| panic!("{name} is gone"));
        assert_eq!(method.input_type(), format!(".cuzk.v1.{input}"));
        assert_eq!(method.output_type(), format!(".cuzk.v1.{output}"));
        assert!(!method.client_streaming() && !method.server_streaming());
    }
    let original = METHODS.iter().map(|(name, ..)| *name);
    let mut expected: Vec<&str> = original.chain(ADDED_METHODS).collect();
    let mut found: Vec<&str> = service
        .method
        .iter()
        .map(MethodDescriptorProto::name)
        .collect();
    expected.sort_unstable();
    found.sort_unstable();
    assert_eq!(found, expected);
}
