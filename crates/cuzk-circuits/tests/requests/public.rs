//! What stands on the chain gives the public inputs that the vanilla proofs give.

use cuzk_circuits::{
    Bytes32, Family, PoRepRequest, PoStRequest, ProofRequest, PublicData, PublicPoSt, PublicSeal,
    PublicUpdate, StoredSector,
};
use serde_json::{Value, json};

use crate::fixture::{MINER_ID, RANDOMNESS, c1_text, fixture};

fn seal() -> PublicSeal {
    let sector = &fixture().sector;
    PublicSeal {
        registered_proof: sector.spec().seal_proof.to_string(),
        miner_id: MINER_ID,
        sector_number: sector.spec().sector_number,
        ticket: Bytes32(sector.ticket()),
        seed: Bytes32(sector.seed()),
        comm_r: Bytes32(sector.comm_r()),
        comm_d: Bytes32(sector.comm_d()),
    }
}

fn update() -> PublicUpdate {
    let updated = &fixture().updated;
    PublicUpdate {
        registered_proof: "StackedDrg2KiBV1".into(),
        comm_r_old: Bytes32(updated.comm_r_old()),
        comm_r_new: Bytes32(updated.comm_r_new()),
        comm_d_new: Bytes32(updated.comm_d_new()),
    }
}

/// Number and commitment stand at the head of a vanilla proof of spacetime.
fn post(registered_proof: &str, request: &PoStRequest) -> PublicPoSt {
    let sectors = request.vanilla_proofs.iter().map(|proof| StoredSector {
        number: u64::from_le_bytes(proof[..8].try_into().expect("eight bytes")),
        comm_r: Bytes32(proof[8..40].try_into().expect("a hash")),
    });
    PublicPoSt {
        registered_proof: registered_proof.into(),
        miner_id: MINER_ID,
        randomness: Bytes32(RANDOMNESS),
        sectors: sectors.collect(),
    }
}

fn expect_equal(request: &ProofRequest, public: &PublicData) {
    let statement = request.decode().expect("a request as clients send it");
    let inputs = public.public_inputs().expect("data of a true sector");
    assert_eq!(public.circuit_id().ok(), Some(statement.circuit_id()));
    assert_eq!(public.family(), request.family());
    assert_eq!(inputs.len(), statement.num_partitions());
    for (partition, inputs) in inputs.iter().enumerate() {
        let expected = statement.public_inputs(partition).expect("a partition");
        assert!(*inputs == expected, "{} {partition}", public.family());
    }
}

#[test]
fn public_data_gives_the_inputs_of_every_partition_of_every_family() {
    let fixture = fixture();
    expect_equal(
        &ProofRequest::PoRep(fixture.porep.clone()),
        &PublicData::PoRep(seal()),
    );
    expect_equal(
        &ProofRequest::SnapDeals(fixture.snap.clone()),
        &PublicData::SnapDeals(update()),
    );
    expect_equal(
        &ProofRequest::WinningPoSt(fixture.winning.clone()),
        &PublicData::WinningPoSt(post("StackedDrgWinning2KiBV1", &fixture.winning)),
    );
    for (name, request) in [
        ("StackedDrgWindow2KiBV1", &fixture.window_v1),
        ("StackedDrgWindow2KiBV1_2", &fixture.window),
    ] {
        let public = PublicData::WindowPoSt(post(name, request));
        expect_equal(&ProofRequest::WindowPoSt(request.clone()), &public);
    }
}

#[test]
fn public_data_survives_json_and_hashes_are_hexadecimal() {
    let public = PublicData::PoRep(seal());
    let text = serde_json::to_string(&public).expect("plain data");
    let parsed = PublicData::from_json(Family::PoRep, text.as_bytes());
    assert_eq!(parsed.expect("what was written"), public);
    let json: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(json["comm_r"], json!(seal().comm_r.to_string()));
}

#[test]
fn malformed_public_data_is_refused_with_its_path() {
    let good = serde_json::to_value(seal()).expect("plain data");
    let edited = |key: &str, value: Value| {
        let mut json = good.clone();
        json[key] = value;
        json.to_string()
    };
    for (text, path) in [
        (String::new(), "at . (byte 0)"),
        (edited("ticket", json!("00")), "at ticket"),
        (edited("seed", json!("zz".repeat(32))), "at seed"),
        (edited("miner_id", json!(-1)), "at miner_id"),
        (edited("comm_c", json!(0)), "comm_c"),
    ] {
        let error = PublicData::from_json(Family::PoRep, text.as_bytes())
            .expect_err("malformed")
            .to_string();
        assert!(error.contains(path), "{path:?} is not in {error:?}");
    }
}

#[test]
fn public_data_that_names_no_statement_is_refused() {
    let winning = post("StackedDrgWinning2KiBV1", &fixture().winning);
    let window = post("StackedDrgWindow2KiBV1", &fixture().window);
    let error = |data: PublicData| data.public_inputs().expect_err("no statement").to_string();

    let zero = PublicSeal {
        comm_r: Bytes32([0; 32]),
        ..seal()
    };
    assert!(error(PublicData::PoRep(zero)).contains("comm_r"));
    let too_large = PublicUpdate {
        comm_d_new: Bytes32([0xff; 32]),
        ..update()
    };
    assert!(error(PublicData::SnapDeals(too_large)).contains("comm_d_new"));
    let aggregate = PublicSeal {
        registered_proof: "StackedDrg2KiBV1_2_Feat_NonInteractivePoRep".into(),
        ..seal()
    };
    assert!(error(PublicData::PoRep(aggregate)).contains("aggregat"));
    assert!(error(PublicData::WindowPoSt(winning.clone())).contains("does not belong"));
    let none = PublicPoSt {
        sectors: Vec::new(),
        ..window.clone()
    };
    assert!(error(PublicData::WindowPoSt(none)).contains("sectors"));
    let mut twice = window;
    twice.sectors.reverse();
    let order = error(PublicData::WindowPoSt(twice.clone()));
    assert!(order.contains("sectors[1] is of sector"), "{order}");
    twice.sectors.reverse();
    twice.sectors[1].comm_r = Bytes32([0; 32]);
    let zero = error(PublicData::WindowPoSt(twice));
    assert!(zero.contains("sectors[1].comm_r is all zero"), "{zero}");
    let mut two = winning;
    two.sectors.push(StoredSector {
        number: 9,
        ..two.sectors[0]
    });
    assert!(error(PublicData::WinningPoSt(two)).contains("sectors has 2 entries, expected 1"));
}

#[test]
fn a_payload_alone_makes_the_request_that_a_client_sends() {
    let request = &fixture().porep;
    let made = PoRepRequest::from_payload(request.vanilla_proof.clone(), MINER_ID);
    assert_eq!(made.expect("a whole payload"), *request);

    let error = PoRepRequest::from_payload(" ".repeat(200_000_000).into(), MINER_ID);
    let error = error.expect_err("too long for any sector").to_string();
    assert!(
        error.contains("200000000 bytes long, porep-64g takes at most"),
        "{error}"
    );

    let broken = c1_text(request).replacen("registered_proof", "registered_prof", 1);
    let broken = crate::fixture::with_c1_text(request, &broken).vanilla_proof;
    let error = PoRepRequest::from_payload(broken, MINER_ID).expect_err("no registered proof");
    assert!(
        error
            .to_string()
            .contains("missing field `registered_proof`"),
        "{error}"
    );
}
