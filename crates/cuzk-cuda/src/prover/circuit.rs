//! What a proof needs of its circuit, on the device, and how its sums are cut where the key is not.

use std::{ops::Range, sync::Arc};

use cuzk_groth16::{QueryCounts, Section};
use cuzk_r1cs::CompiledCircuit;

use super::PassLobby;
use crate::{
    CudaError, Device, MsmPlan, PassPlan, ProofSizes, Quotient, Streaming,
    bitmap_sum::{Bitmap, BitmapSum, Selection},
    driver::{DeviceBuffer, Transfers},
    elements::{Base, Partial},
    evaluation::Evaluation,
    host_field::{Coordinate, Fp, Fp2},
    kernels::DeviceGroup,
    multiexp::TermNumbers,
    tables::{QueryPart, QueryTables},
};

const SCALAR_BYTES: u64 = 32;
/// Windows of a sum, at most, each with so many entries left for the host.
const MAX_WINDOWS: usize = 37;
const MAX_ENTRIES: usize = 32;

/// A compiled circuit, ready to be proved.
pub(super) struct CudaCircuit {
    pub(super) evaluation: Evaluation,
    pub(super) quotient: Quotient,
    /// The quotient's coefficients, cut like the queries.
    pub(super) h: Vec<Range<usize>>,
    pub(super) l: Query,
    pub(super) a: Query,
    pub(super) b_g1: Query,
    pub(super) b_g2: Query,
    pub(super) domain_size: usize,
    /// What a pass over the key holds.
    pub(super) plan: PassPlan,
    pub(super) sizes: ProofSizes,
    /// Page-locked bytes of a proof's copies.
    pub(super) transfer_bytes: usize,
    /// Proofs that were started and are not in a pass yet; those with a key on the device do not wait.
    pub(super) lobby: Arc<PassLobby>,
}

/// Which values are multiplied with which bases of a query.
pub(super) struct Query {
    terms: QueryTerms,
    pub(super) parts: Vec<QueryPart>,
}

/// A query's tables on the device.
struct QueryTerms {
    selection: Option<DeviceBuffer<u64>>,
    first_aux: u32,
    scalar_numbers: DeviceBuffer<u32>,
    base_numbers: DeviceBuffer<u32>,
}

/// The pass of one proof over whole queries.
const WHOLE: PassPlan = PassPlan {
    max_g1: usize::MAX,
    quotients: 1,
    proofs: 1,
};

/// How queries are cut: not at all without streaming, or by what is free once the circuit's tables are on the device.
fn plan(
    device: &Device,
    sizes: ProofSizes,
    streaming: Option<Streaming>,
) -> Result<PassPlan, CudaError> {
    match streaming {
        None => Ok(WHOLE),
        Some(Streaming::Planned(plan)) => Ok(plan),
        Some(Streaming::All | Streaming::WhatDoesNotFit) => {
            let available = device.available_memory();
            PassPlan::within(sizes, available).map_err(|wanted| CudaError::OutOfMemory {
                wanted,
                used: 0,
                limit: available,
            })
        }
    }
}

impl CudaCircuit {
    /// Uploads the circuit's tables; `streaming` says how a key that is not on the device passes through it.
    pub(super) fn new(
        device: &Device,
        circuit: &CompiledCircuit,
        streaming: Option<Streaming>,
    ) -> Result<Self, CudaError> {
        let shape = circuit.shape();
        let (of_l, of_a, of_b) = (
            QueryTables::of_l(circuit),
            QueryTables::of_a(circuit),
            QueryTables::of_b(circuit),
        );
        let evaluation = Evaluation::new(device, circuit)?;
        let quotient = Quotient::new(device, shape.log_domain())?;
        let terms = [&of_l, &of_a, &of_b, &of_b].map(|tables| QueryTerms::new(device, tables));
        let [l, a, b_g1, b_g2] = terms;
        let (l, a, b_g1, b_g2) = (l?, a?, b_g1?, b_g2?);
        let sizes = proof_sizes(device, circuit);
        let plan = plan(device, sizes, streaming)?;
        let (max_g1, max_g2) = (plan.max_g1, plan.max_g2());
        let query = |terms, tables: &QueryTables, max_bases| Query {
            terms,
            parts: tables.parts(max_bases),
        };
        let mut prepared = Self {
            evaluation,
            quotient,
            h: ranges(shape.domain_size() - 1, max_g1),
            l: query(l, &of_l, max_g1),
            a: query(a, &of_a, max_g1),
            b_g1: query(b_g1, &of_b, max_g1),
            b_g2: query(b_g2, &of_b, max_g2),
            domain_size: shape.domain_size(),
            plan,
            sizes,
            transfer_bytes: 0,
            lobby: Arc::new(PassLobby::new()),
        };
        prepared.transfer_bytes = witness_bytes(circuit) + prepared.result_bytes();
        Ok(prepared)
    }

    /// Whether all coefficients of the quotient are summed up at once.
    pub(super) fn h_is_whole(&self) -> bool {
        self.h.len() == 1
    }

    /// Page-locked bytes of a proof's results, the marks of rows and points that are none included.
    fn result_bytes(&self) -> usize {
        let h = self.h.iter().map(|range| window_bytes::<Fp>(range.len()));
        let queries = [&self.l, &self.a, &self.b_g1].map(Query::result_bytes::<Fp>);
        let marks =
            [1, Section::QUERIES.len()].map(|count| Transfers::rounded(count * size_of::<u32>()));
        2 * marks.iter().sum::<usize>()
            + h.sum::<usize>()
            + queries.iter().sum::<usize>()
            + self.b_g2.result_bytes::<Fp2>()
    }
}

/// Consecutive ranges of at most `max` numbers.
fn ranges(count: usize, max: usize) -> Vec<Range<usize>> {
    let firsts = (0..count).step_by(max);
    firsts
        .map(|first| first..count.min(first.saturating_add(max)))
        .collect()
}

/// Device bytes of a proof of the circuit.
pub(super) fn proof_sizes(device: &Device, circuit: &CompiledCircuit) -> ProofSizes {
    const ROUNDING: u64 = 1 << 20;
    let shape = circuit.shape();
    ProofSizes {
        domain_bytes: SCALAR_BYTES * shape.domain_size() as u64,
        witness_bytes: witness_bytes(circuit) as u64,
        bitmap_bytes: ROUNDING
            + BitmapSum::<Fp>::room_bytes(device, shape.num_aux)
                .max(BitmapSum::<Fp2>::room_bytes(device, shape.num_aux)),
    }
}

/// Page-locked bytes of a proof's results, at most, when queries are cut by `plan` or, without one, not at all.
pub(super) fn max_result_bytes(counts: &QueryCounts, plan: Option<PassPlan>) -> usize {
    const OF_G1: usize = MAX_WINDOWS * MAX_ENTRIES * size_of::<Partial<Fp>>();
    const OF_G2: usize = MAX_WINDOWS * MAX_ENTRIES * size_of::<Partial<Fp2>>();
    // A part ends with 32 private variables, so there may be a part more than the number of bases asks for.
    let parts = |bases: u64, max: usize| match bases as usize {
        few if few <= max => 1,
        many => 2 + many / max,
    };
    let PassPlan { max_g1, .. } = plan.unwrap_or(WHOLE);
    let in_g1 = [counts.h, counts.l, counts.a, counts.b_g1].map(|bases| parts(bases, max_g1));
    in_g1.iter().sum::<usize>() * OF_G1 + parts(counts.b_g2, max_g1 / 2) * OF_G2
}

/// Page-locked bytes of a packed witness.
pub(super) fn witness_bytes(circuit: &CompiledCircuit) -> usize {
    let scalar = SCALAR_BYTES as usize;
    let (shape, kinds) = (circuit.shape(), circuit.kinds());
    Transfers::rounded(shape.num_aux.div_ceil(64) * 8)
        + Transfers::rounded(scalar * shape.num_inputs)
        + Transfers::rounded(scalar * kinds.num_wide())
}

/// Page-locked bytes of the results of a sum over field elements.
fn window_bytes<C: Coordinate>(num_terms: usize) -> usize {
    let plan = MsmPlan::new(num_terms);
    Transfers::rounded(plan.num_results() * size_of::<Partial<C>>())
}

impl QueryTerms {
    fn new(device: &Device, tables: &QueryTables) -> Result<Self, CudaError> {
        let selection = if tables.selection.is_empty() {
            None
        } else {
            Some(device.uploaded(&tables.selection)?)
        };
        Ok(Self {
            selection,
            first_aux: tables.first_aux,
            scalar_numbers: device.uploaded(&tables.wide.scalars)?,
            base_numbers: device.uploaded(&tables.wide.bases)?,
        })
    }
}

impl Query {
    /// Page-locked bytes of the results.
    fn result_bytes<C: DeviceGroup>(&self) -> usize {
        let parts = self.parts.iter();
        parts
            .map(|part| {
                Transfers::rounded(size_of::<Base<C>>()) + window_bytes::<C>(part.wide.len())
            })
            .sum()
    }

    /// The bits of `plane` in a part, given the number of the first base that is there.
    pub(super) fn bitmap<'a>(
        &'a self,
        plane: &'a DeviceBuffer<u32>,
        part: &QueryPart,
        first_base: u32,
    ) -> Bitmap<'a> {
        Bitmap {
            words: plane,
            positions: part.positions.clone(),
            selection: self.terms.selection.as_ref().map(|words| Selection {
                words,
                first: self.terms.first_aux,
            }),
            first_base,
        }
    }

    /// The numbers of the wide terms, given the number of the first base that is there.
    pub(super) fn numbers(&self, first_base: u32) -> TermNumbers<'_> {
        TermNumbers {
            scalars: &self.terms.scalar_numbers,
            bases: &self.terms.base_numbers,
            first_base,
        }
    }
}
