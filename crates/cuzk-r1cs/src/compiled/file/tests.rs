//! Files as they are written, and files as somebody might make them up.

use proptest::prelude::*;

use super::*;
use crate::compiled::stack::CutRule;
use crate::compiled::tests::nested::{Nested, Step, compiled, nested, rules};

const EVERYWHERE: CutRule = CutRule {
    min_rows: 1,
    externals_per_1024_rows: 1 << 20,
};

fn label() -> CircuitLabel {
    CircuitLabel {
        name: "test".to_owned(),
        built_from: "a strategy, 1.0".to_owned(),
    }
}

/// Two levels of blocks with bits, wide variables, inputs, and variables of the surroundings.
fn sample() -> CompiledCircuit {
    let row = |a, b| Step::Row([vec![(1, a), (3, b)], vec![(1, b)], vec![(-1, a)]]);
    let inner = Step::Block(vec![Step::Bit(true), Step::Aux(3), row(0, 1), row(1, 4)], 2);
    let outer = Step::Block(vec![Step::Input(1), inner, row(0, 5)], 3);
    compiled(EVERYWHERE, &Nested(vec![Step::Aux(1), Step::Aux(2), outer]))
}

/// A file with this body and a right header.
fn sealed(body: &[u8]) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    bytes.extend_from_slice(&(body.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&checksum(body));
    bytes.extend_from_slice(body);
    bytes
}

fn refusal(bytes: &[u8]) -> CircuitFileError {
    CompiledCircuit::from_file_bytes(bytes).expect_err("the file is wrong")
}

#[test]
fn the_header_is_checked_before_the_body() {
    let good = sample().to_file_bytes(&label());
    assert!(matches!(
        refusal(&[]),
        CircuitFileError::Length {
            expected: 52,
            found: 0
        }
    ));
    assert!(matches!(
        refusal(&good[..good.len() - 1]),
        CircuitFileError::Length { expected, found } if expected == found + 1
    ));
    let with = |place: usize, byte: u8| {
        let mut bytes = good.clone();
        bytes[place] ^= byte;
        refusal(&bytes)
    };
    assert!(matches!(with(0, 1), CircuitFileError::NotACircuit));
    assert!(matches!(
        with(8, 3),
        CircuitFileError::Version {
            expected: 1,
            found: 2
        }
    ));
    assert!(matches!(with(19, 0x80), CircuitFileError::Length { .. }));
    assert!(matches!(with(20, 1), CircuitFileError::Checksum));
    assert!(matches!(
        with(good.len() - 1, 1),
        CircuitFileError::Checksum
    ));
}

#[test]
fn a_file_that_cannot_be_opened_is_named() {
    let error = CompiledCircuit::read_file(Path::new("no/such.circuit")).expect_err("no file");
    assert!(error.to_string().contains("no/such.circuit"), "{error}");
}

#[test]
fn a_cut_body_is_refused_wherever_it_is_cut() {
    let bytes = sample().to_file_bytes(&label());
    let body = &bytes[HEADER_BYTES..];
    for length in 0..body.len() {
        refusal(&sealed(&body[..length]));
    }
    let mut longer = body.to_vec();
    longer.push(0);
    assert!(matches!(
        refusal(&sealed(&longer)),
        CircuitFileError::Value {
            section: CircuitSection::End,
            found: 1,
            ..
        }
    ));
}

/// A body with an empty label, no coefficient and the given templates.
fn of_templates(templates: &[&[u8]]) -> Vec<u8> {
    let mut body = vec![0, 0];
    body.extend_from_slice(&[7; 32]);
    body.push(0);
    body.push(templates.len() as u8);
    for template in templates {
        body.extend_from_slice(template);
    }
    body.push(0);
    sealed(&body)
}

#[test]
fn the_place_of_a_wrong_value_is_named() {
    use CircuitSection::{Children, Externals, Templates, Terms};
    // Own rows, private, public, external variables, children, and what follows from them.
    const NOTHING: &[u8] = &[0, 0, 0, 0, 0];
    let cases: [(&[&[u8]], CircuitSection, u64, &str); 9] = [
        (&[], Templates, 0, "number of templates"),
        (
            &[&[0, 0, 0, 1, 0]],
            Templates,
            0,
            "external variables of the whole circuit",
        ),
        (
            &[&[0, 0x81, 0x80, 0x80, 0x80, 1, 0, 0, 0]],
            Templates,
            0,
            "private variables",
        ),
        (
            &[&[0, 0, 0, 0, 1, 0, 0, 0, 0]],
            Children,
            0,
            "number of templates before",
        ),
        (
            &[NOTHING, &[0, 0, 0, 0, 1, 1, 0, 0, 0]],
            Children,
            1,
            "template",
        ),
        (
            &[NOTHING, &[0, 0, 0, 0, 1, 0, 1, 0, 0]],
            Children,
            1,
            "own rows before",
        ),
        (
            &[&[0, 2, 0, 0, 0, 0], &[0, 1, 0, 0, 1, 0, 0, 0, 0]],
            Children,
            1,
            "end of a child",
        ),
        (
            &[&[0, 0, 0, 1, 0], &[0, 0, 0, 0, 1, 0, 0, 0, 0, 1]],
            Externals,
            1,
            "slot",
        ),
        (&[&[1, 0, 0, 0, 0, 1, 0, 0, 3, 0]], Terms, 0, "coefficient"),
    ];
    for (templates, section, index, what) in cases {
        let expected = format!("section {section}, item {index}: {what} is ");
        let error = refusal(&of_templates(templates)).to_string();
        assert!(error.starts_with(&expected), "{expected}: {error}");
    }
}

#[test]
fn templates_that_expand_without_end_are_refused() {
    // Each template holds 250 instances of the one before: 250^4 are more than any circuit has.
    let mut templates: Vec<Vec<u8>> = vec![vec![0, 0, 0, 0, 0]];
    for index in 0..5 {
        let mut template = vec![0, 0, 0, 0, 0xfa, 1];
        template.extend([index, 0, 0, 0].repeat(250));
        templates.push(template);
    }
    let slices: Vec<&[u8]> = templates.iter().map(Vec::as_slice).collect();
    let error = refusal(&of_templates(&slices)).to_string();
    assert!(error.contains("number of instances"), "{error}");

    // Each template holds the one before and nothing else.
    let mut templates: Vec<Vec<u8>> = vec![vec![0, 0, 0, 0, 0]];
    templates.extend((0..100).map(|index| vec![0, 0, 0, 0, 1, index, 0, 0, 0]));
    let slices: Vec<&[u8]> = templates.iter().map(Vec::as_slice).collect();
    let error = refusal(&of_templates(&slices)).to_string();
    assert!(error.contains("depth is 65, expected 0 to 64"), "{error}");
}

proptest! {
    #[test]
    fn a_circuit_read_back_is_the_one_that_was_written(circuit in nested(), rule in rules()) {
        let compiled = compiled(rule, &circuit);
        let bytes = compiled.to_file_bytes(&label());
        let (again, label_again) = CompiledCircuit::from_file_bytes(&bytes).expect("a file just written");
        prop_assert_eq!(again, compiled);
        prop_assert_eq!(label_again, label());
    }

    /// What a wrong body decodes to, if it decodes, can be used without a panic.
    #[test]
    fn wrong_bodies_are_refused_or_harmless(
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..4),
        cut in proptest::option::of(any::<proptest::sample::Index>()),
    ) {
        let bytes = sample().to_file_bytes(&label());
        let mut body = bytes[HEADER_BYTES..].to_vec();
        for (place, byte) in changes {
            let place = place.index(body.len());
            body[place] ^= byte;
        }
        if let Some(cut) = cut {
            body.truncate(cut.index(body.len()));
        }
        if let Ok((circuit, _)) = CompiledCircuit::from_file_bytes(&sealed(&body)) {
            let mut rows = 0;
            // A changed count of private variables may make a circuit of any size, but no row more than it says.
            circuit.for_each_row(&mut |_, _| rows += 1);
            prop_assert_eq!(rows, circuit.shape().num_constraints);
            prop_assert_eq!(circuit.kinds().num_aux(), circuit.shape().num_aux);
            circuit.placements();
        }
    }

    #[test]
    fn any_bytes_behind_a_right_header_are_no_panic(body in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = CompiledCircuit::from_file_bytes(&sealed(&body));
    }
}
