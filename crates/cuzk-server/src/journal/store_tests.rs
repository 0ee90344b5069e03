use std::time::Duration;

use super::super::Identity;
use super::*;

const KEEP_ALL: Retention = Retention {
    max_age: Duration::from_hours(1),
    max_results: 100,
    max_bytes: 1 << 20,
};

fn settings(folder: &tempfile::TempDir, retention: Retention) -> JournalSettings {
    JournalSettings {
        folder: folder.path().join("journal"),
        reserve_bytes: 0,
        retention,
    }
}

fn opened(folder: &tempfile::TempDir) -> Journal {
    Journal::open(&settings(folder, KEEP_ALL)).expect("a journal")
}

fn request(request_id: &str, payload: &'static [u8]) -> SubmitProofRequest {
    SubmitProofRequest {
        request_id: request_id.into(),
        proof_kind: 4,
        priority: 3,
        tenant: "north".into(),
        vanilla_proofs: vec![Bytes::from_static(payload)],
        ..SubmitProofRequest::default()
    }
}

fn acceptance(job: &str, request: &SubmitProofRequest) -> Acceptance {
    let Identity { content, digest } = Identity::of(request);
    Acceptance {
        job: job.into(),
        content,
        digest,
        terms: SubmitProofRequest {
            vanilla_proofs: Vec::new(),
            ..request.clone()
        },
        deadline_unix_ms: Some(7),
    }
}

fn answer(job: &str) -> AwaitProofResponse {
    AwaitProofResponse {
        job_id: job.into(),
        proof: Bytes::from_static(&[9; 192]),
        status: 1,
        ..AwaitProofResponse::default()
    }
}

fn job_of(journal: &Journal, request: &SubmitProofRequest) -> Option<String> {
    journal
        .job_of(&request.request_id, || Identity::of(request).digest)
        .expect("the database answers")
}

#[test]
fn accepted_jobs_come_back_after_a_restart_in_order_and_as_they_were_sent() {
    let folder = tempfile::tempdir().expect("a folder");
    let sent = [request("b", b"1"), request("a", b"2"), request("", b"3")];
    let journal = opened(&folder);
    for (job, request) in ["z", "y", "x"].into_iter().zip(&sent) {
        journal.accept(&acceptance(job, request)).expect("room");
    }
    drop(journal);
    let journal = opened(&folder);
    journal
        .accept(&acceptance("w", &request("c", b"4")))
        .expect("room");
    let found = journal.unfinished().expect("readable");
    let jobs: Vec<&str> = found.iter().map(|job| job.job.as_str()).collect();
    assert_eq!(jobs, ["z", "y", "x", "w"]);
    for (found, sent) in found.iter().zip(&sent) {
        assert_eq!(&journal.request(found).expect("kept"), sent);
        assert_eq!(found.deadline_unix_ms, Some(7));
    }
}

#[test]
fn an_ended_job_has_one_answer_no_payload_and_is_not_proved_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let journal = opened(&folder);
    let sent = request("a", b"1");
    journal.accept(&acceptance("j", &sent)).expect("room");
    journal.end("j", &answer("j")).expect("room");
    let other = AwaitProofResponse {
        status: 2,
        ..answer("j")
    };
    journal.end("j", &other).expect("a second end is ignored");
    drop(journal);
    let journal = opened(&folder);
    assert!(journal.unfinished().expect("readable").is_empty());
    assert_eq!(journal.answer("j").expect("readable"), Some(answer("j")));
    assert_eq!(job_of(&journal, &sent).as_deref(), Some("j"));
    let payloads = fs::read_dir(folder.path().join("journal/payloads")).expect("the folder");
    assert_eq!(payloads.count(), 0);
}

#[test]
fn an_answer_of_a_job_that_was_never_accepted_is_not_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    let journal = opened(&folder);
    journal.end("j", &answer("j")).expect("ignored");
    assert_eq!(journal.answer("j").expect("readable"), None);
}

#[test]
fn the_same_id_with_other_content_is_another_request() {
    let folder = tempfile::tempdir().expect("a folder");
    let journal = opened(&folder);
    let (first, second) = (request("a", b"1"), request("a", b"2"));
    journal.accept(&acceptance("j", &first)).expect("room");
    assert_eq!(job_of(&journal, &second), None);
    journal.accept(&acceptance("k", &second)).expect("room");
    assert_eq!(job_of(&journal, &first).as_deref(), Some("j"));
    assert_eq!(job_of(&journal, &second).as_deref(), Some("k"));
    assert_eq!(job_of(&journal, &request("aa", b"1")), None);
}

#[test]
fn a_digest_is_computed_for_known_ids_only() {
    let folder = tempfile::tempdir().expect("a folder");
    let journal = opened(&folder);
    let found = journal.job_of("unknown", || panic!("hashing megabytes for nothing"));
    assert_eq!(found.expect("readable"), None);
}

#[test]
fn a_job_that_is_written_down_is_not_written_again_before_or_after_its_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let journal = opened(&folder);
    let sent = request("a", b"1");
    for _ in 0..2 {
        journal.accept(&acceptance("j", &sent)).expect("room");
    }
    assert_eq!(journal.unfinished().expect("readable").len(), 1);
    journal.end("j", &answer("j")).expect("room");
    journal.accept(&acceptance("j", &sent)).expect("room");
    assert!(journal.unfinished().expect("readable").is_empty());
}

#[test]
fn results_beyond_the_limits_are_forgotten_and_the_request_can_be_proved_anew() {
    let folder = tempfile::tempdir().expect("a folder");
    let retention = Retention {
        max_results: 1,
        ..KEEP_ALL
    };
    let journal = Journal::open(&settings(&folder, retention)).expect("a journal");
    let (first, second) = (request("a", b"1"), request("b", b"2"));
    for (job, sent) in [("j", &first), ("k", &second)] {
        journal.accept(&acceptance(job, sent)).expect("room");
        journal.end(job, &answer(job)).expect("room");
    }
    assert_eq!(journal.answer("j").expect("readable"), None);
    assert_eq!(job_of(&journal, &first), None);
    assert_eq!(job_of(&journal, &second).as_deref(), Some("k"));
}

#[test]
fn a_refused_payload_leaves_no_record() {
    let folder = tempfile::tempdir().expect("a folder");
    let journal = Journal::open(&JournalSettings {
        reserve_bytes: u64::MAX / 2,
        ..settings(&folder, KEEP_ALL)
    })
    .expect("a journal");
    let error = journal
        .accept(&acceptance("j", &request("a", b"1")))
        .expect_err("no disk is that large");
    assert!(error.is_full(), "{error}");
    assert!(journal.unfinished().expect("readable").is_empty());
}

#[test]
fn a_second_daemon_on_the_same_journal_is_refused_with_the_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let _first = opened(&folder);
    let error = Journal::open(&settings(&folder, KEEP_ALL)).expect_err("locked");
    assert!(error.to_string().contains("journal"), "{error}");
}
