//! What a proof needs of its circuit, on the device, and how its sums are cut where the key is not.

use std::ops::Range;

use cuzk_r1cs::CompiledCircuit;

use crate::{
    CudaError, Device, MsmPlan, Quotient,
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
/// Page-locked bytes of a proof's results, at most, when the key is on the device: 37 windows of 32 entries for each of four sums
/// in G1 and one in G2.
pub(super) const MAX_RESULT_BYTES: usize = 3 << 20;

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
    /// Page-locked bytes of a proof's copies.
    pub(super) transfer_bytes: usize,
}

/// Which values are multiplied with which bases of a query.
pub(super) struct Query {
    selection: Option<DeviceBuffer<u64>>,
    first_aux: u32,
    scalar_numbers: DeviceBuffer<u32>,
    base_numbers: DeviceBuffer<u32>,
    pub(super) parts: Vec<QueryPart>,
}

/// How many bases of a query are on the device at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Chunking {
    pub(super) max_g1: usize,
    pub(super) max_g2: usize,
}

impl Chunking {
    /// Whole queries.
    pub(super) const NONE: Self = Self {
        max_g1: usize::MAX,
        max_g2: usize::MAX,
    };

    /// Chunks of `max_g1` bases of G1, and as many bytes of G2.
    pub(super) fn of(max_g1: usize) -> Self {
        assert!(max_g1 >= 2, "a chunk has bases of both groups");
        Self {
            max_g1,
            max_g2: max_g1 / 2,
        }
    }

    /// The largest chunks of a streamed key with which a proof of the circuit stays within `available` bytes, those of its
    /// tables not counted; an error tells what the smallest would need.
    pub(super) fn within(
        device: &Device,
        circuit: &CompiledCircuit,
        available: u64,
    ) -> Result<Self, CudaError> {
        const LOG_CHUNKS: Range<u32> = 18..28;
        let mut needed = 0;
        for log_chunk in LOG_CHUNKS.rev() {
            let chunking = Self::of(1 << log_chunk);
            needed = chunking.bytes(device, circuit);
            if needed <= available {
                return Ok(chunking);
            }
        }
        Err(CudaError::OutOfMemory {
            wanted: needed,
            used: 0,
            limit: available,
        })
    }

    /// Device bytes of a proof with a streamed key, at most.
    fn bytes(self, device: &Device, circuit: &CompiledCircuit) -> u64 {
        let shape = circuit.shape();
        let (g1, g2) = (2 * size_of::<Fp>(), 2 * size_of::<Fp2>());
        let domain = SCALAR_BYTES * shape.domain_size() as u64;
        let witness = witness_bytes(circuit) as u64;
        let sum = |points: usize, base_bytes: usize| {
            (points * base_bytes) as u64 + MsmPlan::new(points).room_bytes(base_bytes)
        };
        let (of_g1, of_g2) = (sum(self.max_g1, g1), sum(self.max_g2, g2));
        // A part of a sparse query has few bases and still all positions.
        let bits = BitmapSum::<Fp>::room_bytes(device, shape.num_aux)
            .max(BitmapSum::<Fp2>::room_bytes(device, shape.num_aux));
        let points = (self.max_g1 * g1).max(self.max_g2 * g2) as u64;
        let largest = (3 * domain)
            .max(domain + of_g1)
            .max(of_g2)
            .max(points + bits);
        witness + largest
    }
}

impl CudaCircuit {
    pub(super) fn new(
        device: &Device,
        circuit: &CompiledCircuit,
        chunking: Chunking,
    ) -> Result<Self, CudaError> {
        let shape = circuit.shape();
        let coefficients = shape.domain_size() - 1;
        let of_b = QueryTables::of_b(circuit);
        let Chunking { max_g1, max_g2 } = chunking;
        let mut prepared = Self {
            evaluation: Evaluation::new(device, circuit)?,
            quotient: Quotient::new(device, shape.log_domain())?,
            h: (0..coefficients)
                .step_by(max_g1)
                .map(|first| first..coefficients.min(first.saturating_add(max_g1)))
                .collect(),
            l: Query::new(device, &QueryTables::of_l(circuit), max_g1)?,
            a: Query::new(device, &QueryTables::of_a(circuit), max_g1)?,
            b_g1: Query::new(device, &of_b, max_g1)?,
            b_g2: Query::new(device, &of_b, max_g2)?,
            transfer_bytes: 0,
        };
        prepared.transfer_bytes = witness_bytes(circuit) + prepared.result_bytes();
        Ok(prepared)
    }

    fn result_bytes(&self) -> usize {
        let h = self.h.iter().map(|range| window_bytes::<Fp>(range.len()));
        let queries = [&self.l, &self.a, &self.b_g1].map(Query::result_bytes::<Fp>);
        let number = Transfers::rounded(size_of::<u32>());
        2 * number
            + h.sum::<usize>()
            + queries.iter().sum::<usize>()
            + self.b_g2.result_bytes::<Fp2>()
    }
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

impl Query {
    fn new(device: &Device, tables: &QueryTables, max_bases: usize) -> Result<Self, CudaError> {
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
            parts: tables.parts(max_bases),
        })
    }

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
            selection: self.selection.as_ref().map(|words| Selection {
                words,
                first: self.first_aux,
            }),
            first_base,
        }
    }

    /// The numbers of the wide terms, given the number of the first base that is there.
    pub(super) fn numbers(&self, first_base: u32) -> TermNumbers<'_> {
        TermNumbers {
            scalars: &self.scalar_numbers,
            bases: &self.base_numbers,
            first_base,
        }
    }
}
