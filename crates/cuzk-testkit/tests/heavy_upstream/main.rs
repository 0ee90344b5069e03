//! The circuits' authors accept our proofs with our keys, we accept bellperson's, and both refuse what was tampered with.
//!
//! Everything here is at 2 KiB, with sectors that upstream sealed and keys that upstream loads under its own file names.

mod environment;
mod kinds;
mod proving;

use environment::with_upstream;
use kinds::Kind;
use proving::{ours_accepts, prove_with_bellperson, prove_with_ours, tampered};

/// Our proof is bellperson's, byte for byte, both verifiers accept it, and both refuse it once it is changed.
fn check(kind: &Kind) {
    let ours = prove_with_ours(&kind.statement);
    assert!((kind.upstream_accepts)(&ours), "upstream refuses our proof");
    assert!(ours_accepts(&kind.statement, &ours), "we refuse our proof");

    let changed = tampered(&ours);
    assert!(
        !(kind.upstream_accepts)(&changed),
        "upstream accepts a tampered proof"
    );
    assert!(
        !ours_accepts(&kind.statement, &changed),
        "we accept a tampered proof"
    );

    let bellpersons = prove_with_bellperson(&kind.statement);
    assert!(
        ours_accepts(&kind.statement, &bellpersons),
        "we refuse bellperson's proof"
    );
    assert_eq!(ours, bellpersons, "the same blinding gives other bytes");
}

#[test]
fn porep_proofs_are_bellpersons_and_pass_both_verifiers() {
    with_upstream(
        "porep_proofs_are_bellpersons_and_pass_both_verifiers",
        || check(&kinds::porep()),
    );
}

#[test]
fn snap_proofs_are_bellpersons_and_pass_both_verifiers() {
    with_upstream(
        "snap_proofs_are_bellpersons_and_pass_both_verifiers",
        || check(&kinds::snap()),
    );
}

#[test]
fn window_post_proofs_are_bellpersons_and_pass_both_verifiers() {
    with_upstream(
        "window_post_proofs_are_bellpersons_and_pass_both_verifiers",
        || {
            let kind = kinds::window_post();
            assert_eq!(kind.statement.num_partitions(), 2);
            check(&kind);
        },
    );
}

#[test]
fn winning_post_proofs_are_bellpersons_and_pass_both_verifiers() {
    with_upstream(
        "winning_post_proofs_are_bellpersons_and_pass_both_verifiers",
        || {
            check(&kinds::winning_post());
        },
    );
}
