//! A key by the textbook, as the twin of the fast setup: Lagrange's formula over the whole domain, double-and-add.

use blstrs::{G1Affine, G2Affine, Scalar};
use cuzk_r1cs::{Column, Matrix, RecordedCircuit};
use ff::Field;
use group::Curve;
use group::prime::PrimeCurveAffine;

use super::tests::Exponents;
use crate::ntt::root_of_unity;

/// The polynomials of a circuit's variables at τ.
struct Polynomials<'a> {
    circuit: &'a RecordedCircuit,
    /// The points of the domain.
    points: Vec<Scalar>,
    /// The basis polynomial of each row at τ.
    rows: Vec<Scalar>,
}

impl<'a> Polynomials<'a> {
    fn new(circuit: &'a RecordedCircuit, tau: Scalar) -> Self {
        let omega = root_of_unity(circuit.shape.log_domain());
        let size = circuit.shape.domain_size();
        let points: Vec<Scalar> = (0..size as u64).map(|j| omega.pow_vartime([j])).collect();
        let basis = |row: usize| {
            let others = (0..size).filter(|other| *other != row);
            others.fold(Scalar::ONE, |product, other| {
                product * (tau - points[other]) * inverse(points[row] - points[other])
            })
        };
        let rows = (0..circuit.shape.num_rows()).map(basis).collect();
        Self {
            circuit,
            points,
            rows,
        }
    }

    /// The value of one variable's polynomial in one matrix, its input row not counted.
    fn value(&self, matrix: &Matrix, column: Column) -> Scalar {
        let terms = matrix.rows().zip(&self.rows).flat_map(|(row, value)| {
            let own = row.iter().filter(|entry| entry.column == column);
            own.map(move |entry| {
                self.circuit.coefficients[entry.coefficient_index as usize] * value
            })
        });
        terms.sum()
    }
}

/// The scalars behind the vectors of a key.
#[derive(Default)]
struct Vectors {
    ic: Vec<Scalar>,
    h: Vec<Scalar>,
    l: Vec<Scalar>,
    a: Vec<Scalar>,
    b: Vec<Scalar>,
}

impl Vectors {
    fn new(circuit: &RecordedCircuit, [tau, alpha, beta, gamma, delta]: Exponents) -> Self {
        let polynomials = Polynomials::new(circuit, tau);
        let shape = &circuit.shape;
        let input_rows = &polynomials.rows[shape.num_constraints..];
        let inputs = (0..shape.num_inputs).map(|i| (Column::input(i), input_rows[i]));
        let aux = (0..shape.num_aux).map(|i| (Column::aux(i), Scalar::ZERO));
        let mut vectors = Self::default();
        for (position, (column, input_row)) in inputs.chain(aux).enumerate() {
            let u = polynomials.value(&circuit.a, column) + input_row;
            let v = polynomials.value(&circuit.b, column);
            let w = polynomials.value(&circuit.c, column);
            let combined = beta * u + alpha * v + w;
            if position < shape.num_inputs {
                vectors.ic.push(combined * inverse(gamma));
            } else {
                vectors.l.push(combined * inverse(delta));
            }
            vectors.a.extend((u != Scalar::ZERO).then_some(u));
            vectors.b.extend((v != Scalar::ZERO).then_some(v));
        }
        let points = polynomials.points.iter();
        let vanishing = points.fold(Scalar::ONE, |product, point| product * (tau - point));
        vectors.h = (0..shape.domain_size() as u64 - 1)
            .map(|i| tau.pow_vartime([i]) * vanishing * inverse(delta))
            .collect();
        vectors
    }
}

/// The bytes of the `.params` file.
pub(super) fn textbook_params(circuit: &RecordedCircuit, exponents: Exponents) -> Vec<u8> {
    let [_, alpha, beta, gamma, delta] = exponents;
    let Vectors { ic, h, l, a, b } = Vectors::new(circuit, exponents);
    let mut bytes = Vec::new();
    bytes.extend_from_slice(&g1(&alpha));
    bytes.extend_from_slice(&g1(&beta));
    bytes.extend_from_slice(&g2(&beta));
    bytes.extend_from_slice(&g2(&gamma));
    bytes.extend_from_slice(&g1(&delta));
    bytes.extend_from_slice(&g2(&delta));
    for vector in [&ic, &h, &l, &a, &b] {
        bytes.extend_from_slice(&(vector.len() as u32).to_be_bytes());
        bytes.extend(vector.iter().flat_map(g1));
    }
    bytes.extend_from_slice(&(b.len() as u32).to_be_bytes());
    bytes.extend(b.iter().flat_map(g2));
    bytes
}

fn g1(scalar: &Scalar) -> [u8; 96] {
    (G1Affine::generator() * scalar)
        .to_affine()
        .to_uncompressed()
}

fn g2(scalar: &Scalar) -> [u8; 192] {
    (G2Affine::generator() * scalar)
        .to_affine()
        .to_uncompressed()
}

fn inverse(scalar: Scalar) -> Scalar {
    Option::from(scalar.invert()).expect("not zero")
}
