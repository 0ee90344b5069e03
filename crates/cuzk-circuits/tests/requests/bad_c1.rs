//! C1 output that must be refused, with what the message must say.

use serde_json::{Value, json};

use crate::bad_porep::expect_refused;
use crate::fixture::{bytes, c1_text, challenge, fixture, with_c1, with_c1_text};

/// C1 output to be refused: what is wrong, the text made from the good one, parts of the message.
type TextCase = (&'static str, fn(&str) -> String, &'static [&'static str]);
/// C1 output to be refused: what is wrong, the edit, parts of the message.
type EditCase = (&'static str, fn(&mut Value), &'static [&'static str]);

const TEXTS: &[TextCase] = &[
    ("nothing", |_| String::new(), &["Phase1Out at . (byte 0)"]),
    (
        "a byte-order mark",
        |c1| format!("\u{feff}{c1}"),
        &["Phase1Out begins with a byte-order mark"],
    ),
    ("a tail", |c1| format!("{c1}}}"), &["trailing characters"]),
    (
        "a key twice",
        |c1| put(c1, "seed", "\"ticket\":[]"),
        &["Phase1Out at ticket"],
    ),
    (
        "an unknown key",
        |c1| put(c1, "seed", "\"sead\":0"),
        &["unknown field `sead`"],
    ),
    (
        "a deep unknown key",
        |c1| put(c1, "layer_index", "\"layer\":0"),
        &["[0][0].labeling_proofs[0]", "unknown field `layer`"],
    ),
    (
        "not a number",
        |c1| put(c1, "index", "\"index\":NaN"),
        &["expected value", "index"],
    ),
    (
        "a huge number",
        |c1| put(c1, "index", "\"index\":1e400"),
        &["out of range"],
    ),
    (
        "deep nesting",
        |_| format!("{{\"comm_d\":{}", "[".repeat(50_000)),
        &["Phase1Out at comm_d"],
    ),
];

const SHAPES: &[EditCase] = &[
    (
        "no partition",
        |c1| c1["vanilla_proofs"]["StackedDrg2KiBV1"] = json!([]),
        &["has 0 entries, expected 1"],
    ),
    (
        "two partitions",
        |c1| repeat(&mut c1["vanilla_proofs"]["StackedDrg2KiBV1"]),
        &["has 2 entries, expected 1"],
    ),
    (
        "no challenge",
        |c1| c1["vanilla_proofs"]["StackedDrg2KiBV1"] = json!([[]]),
        &["[0] has 0 entries, expected 2"],
    ),
    (
        "three challenges",
        |c1| repeat(&mut c1["vanilla_proofs"]["StackedDrg2KiBV1"][0]),
        &["[0] has 3 entries, expected 2"],
    ),
    (
        "another shape",
        |c1| rename_shape(c1, "StackedDrg8MiBV1"),
        &["StackedDrg8MiBV1", "expected \"StackedDrg2KiBV1\""],
    ),
    (
        "no shape",
        |c1| c1["vanilla_proofs"] = json!({}),
        &["Phase1Out at vanilla_proofs", "one key"],
    ),
    (
        "two shapes",
        |c1| c1["vanilla_proofs"]["Z"] = json!([]),
        &["Phase1Out at vanilla_proofs", "one key"],
    ),
    (
        "an unknown proof",
        |c1| c1["registered_proof"] = json!("StackedDrg2KiBV9"),
        &["StackedDrg2KiBV9", "unknown"],
    ),
    (
        "five drg parents",
        |c1| shorten(&mut challenge(c1)["replica_column_proofs"]["drg_parents"]),
        &["drg_parents has 5 entries, expected 6"],
    ),
    (
        "nine exp parents",
        |c1| repeat(&mut challenge(c1)["replica_column_proofs"]["exp_parents"]),
        &["exp_parents has 9 entries, expected 8"],
    ),
    (
        "a layer less",
        |c1| shorten(&mut challenge(c1)["labeling_proofs"]),
        &["labeling_proofs has 1 entries, expected 2"],
    ),
    (
        "a row less",
        |c1| shorten(&mut challenge(c1)["replica_column_proofs"]["c_x"]["column"]["rows"]),
        &["c_x.column.rows has 1 entries, expected 2"],
    ),
    (
        "a label parent less",
        |c1| shorten(&mut challenge(c1)["labeling_proofs"][1]["parents"]),
        &["labeling_proofs[1].parents has 36 entries, expected 37"],
    ),
    (
        "an encoding parent more",
        |c1| repeat(&mut challenge(c1)["encoding_proof"]["parents"]),
        &["encoding_proof.parents has 38 entries, expected 37"],
    ),
    (
        "a short data path",
        |c1| shorten(&mut single(c1, "comm_d_proofs")["path"]["path"]),
        &["comm_d_proofs.data.path.path has 5 entries, expected 6"],
    ),
    (
        "a long replica path",
        |c1| repeat(&mut single(c1, "comm_r_last_proof")["path"]["path"]),
        &["comm_r_last_proof.data.path.path has 3 entries, expected 2"],
    ),
    (
        "six siblings",
        |c1| shorten(&mut single(c1, "comm_r_last_proof")["path"]["path"][1]["hashes"]),
        &["path[1].hashes has 6 entries, expected 7"],
    ),
    (
        "child 8 of 8",
        |c1| single(c1, "comm_r_last_proof")["path"]["path"][0]["index"] = json!(8),
        &["path[0].index is 8", "8 children"],
    ),
    (
        "a proof of kind Sub",
        |c1| sub(&mut challenge(c1)["comm_r_last_proof"]["data"]),
        &["comm_r_last_proof.data is a proof of kind Sub, this tree needs Single"],
    ),
    (
        "a proof of no kind",
        |c1| challenge(c1)["comm_r_last_proof"]["data"] = json!({"Side": {}}),
        &["unknown variant `Side`"],
    ),
];

const BYTES: &[EditCase] = &[
    (
        "31 bytes",
        |c1| shorten(&mut single(c1, "comm_d_proofs")["leaf"]),
        &["invalid length 31"],
    ),
    (
        "33 bytes",
        |c1| repeat(&mut single(c1, "comm_d_proofs")["leaf"]),
        &["leaf"],
    ),
    (
        "a byte of 256",
        |c1| single(c1, "comm_d_proofs")["leaf"][3] = json!(256),
        &["leaf[3]", "256"],
    ),
    (
        "no scalar",
        |c1| single(c1, "comm_d_proofs")["leaf"] = bytes(255),
        &["not below the modulus"],
    ),
    (
        "a replica id that is no scalar",
        |c1| c1["replica_id"] = bytes(255),
        &["Phase1Out at replica_id", "not below the modulus"],
    ),
    (
        "31 bytes of ticket",
        |c1| shorten(&mut c1["ticket"]),
        &["Phase1Out at ticket"],
    ),
];

const BINDINGS: &[EditCase] = &[
    (
        "commitments swapped",
        |c1| swap(c1, "comm_r", "comm_d"),
        &["replica_id"],
    ),
    (
        "another comm_r",
        |c1| flip(&mut c1["comm_r"]),
        &["comm_r is "],
    ),
    (
        "no comm_r",
        |c1| c1["comm_r"] = bytes(0),
        &["comm_r is all zero"],
    ),
    (
        "comm_r no scalar",
        |c1| c1["comm_r"] = bytes(255),
        &["comm_r is ffff", "not below the modulus"],
    ),
    (
        "another comm_d",
        |c1| flip(&mut c1["comm_d"]),
        &["another sector"],
    ),
    (
        "another ticket",
        |c1| flip(&mut c1["ticket"]),
        &["another sector"],
    ),
    (
        "another replica id",
        |c1| c1["replica_id"] = bytes(1),
        &["replica_id is 0101"],
    ),
    (
        "another seed",
        |c1| c1["seed"] = bytes(9),
        &["comm_d_proofs.challenge is"],
    ),
    ("no seed", |c1| c1["seed"] = bytes(0), &["seed is all zero"]),
    (
        "challenges swapped",
        |c1| swap_challenges(c1),
        &["comm_d_proofs.challenge is"],
    ),
    (
        "another data root",
        |c1| single(c1, "comm_d_proofs")["root"] = bytes(1),
        &["comm_d_proofs.root is 0101"],
    ),
    (
        "another replica root",
        |c1| single(c1, "comm_r_last_proof")["root"] = bytes(1),
        &["comm_r is "],
    ),
    (
        "another challenge in a label",
        |c1| challenge(c1)["labeling_proofs"][0]["node"] = json!(u64::MAX),
        &["labeling_proofs[0].node is 18446744073709551615"],
    ),
];

fn expect_edits_refused(cases: &[EditCase]) {
    for (what, edit, parts) in cases {
        expect_refused(what, &with_c1(&fixture().porep, edit), parts);
    }
}

#[test]
fn the_inner_json_must_be_exact() {
    let good = c1_text(&fixture().porep);
    for (what, edit, parts) in TEXTS {
        let bad = edit(&good);
        assert_ne!(bad, good, "{what}");
        expect_refused(what, &with_c1_text(&fixture().porep, bad), parts);
    }
}

#[test]
fn shapes_are_checked_with_their_path() {
    expect_edits_refused(SHAPES);
}

#[test]
fn bytes_are_checked_with_their_path() {
    expect_edits_refused(BYTES);
}

#[test]
fn commitments_and_challenges_are_checked() {
    expect_edits_refused(BINDINGS);
}

#[test]
fn nine_or_eleven_partitions_of_32_gib_are_refused() {
    for num_partitions in [0, 9, 11] {
        let c1 = json!({
            "registered_proof": "StackedDrg32GiBV1_1",
            "vanilla_proofs": {"StackedDrg32GiBV1": vec![json!([]); num_partitions]},
            "comm_r": bytes(1),
            "comm_d": bytes(1),
            "replica_id": bytes(1),
            "seed": bytes(1),
            "ticket": bytes(1),
        });
        let mut header = fixture().porep.clone();
        header.registered_proof = 8;
        header.sector_size = 32 << 30;
        expect_refused(
            "partitions",
            &with_c1_text(&header, c1.to_string()),
            &[&format!("has {num_partitions} entries, expected 10")],
        );
    }
}

/// Puts `entry` before the first `key`.
fn put(c1: &str, key: &str, entry: &str) -> String {
    c1.replacen(&format!("\"{key}\":"), &format!("{entry},\"{key}\":"), 1)
}

fn single<'a>(c1: &'a mut Value, proof: &str) -> &'a mut Value {
    &mut challenge(c1)[proof]["data"]["Single"]
}

fn list(value: &mut Value) -> &mut Vec<Value> {
    value.as_array_mut().expect("a list")
}

fn shorten(value: &mut Value) {
    list(value).pop();
}

fn repeat(value: &mut Value) {
    let list = list(value);
    list.push(list[0].clone());
}

/// Changes the lowest bit of the first byte.
fn flip(bytes: &mut Value) {
    bytes[0] = json!(bytes[0].as_u64().map(|byte| byte ^ 1));
}

fn rename_shape(c1: &mut Value, name: &str) {
    let proofs = c1["vanilla_proofs"]["StackedDrg2KiBV1"].take();
    c1["vanilla_proofs"] = json!({ name: proofs });
}

/// The same path, said to be one of a tree of trees.
fn sub(data: &mut Value) {
    let mut single = data["Single"].take();
    let mut base = single["path"].take();
    let top = base["path"].as_array_mut().and_then(Vec::pop);
    *data = json!({"Sub": {
        "base_proof": base,
        "sub_proof": {"path": [top]},
        "root": single["root"],
        "leaf": single["leaf"],
    }});
}

fn swap(c1: &mut Value, left: &str, right: &str) {
    let value = c1[left].take();
    c1[left] = c1[right].take();
    c1[right] = value;
}

fn swap_challenges(c1: &mut Value) {
    list(&mut c1["vanilla_proofs"]["StackedDrg2KiBV1"][0]).swap(0, 1);
}
