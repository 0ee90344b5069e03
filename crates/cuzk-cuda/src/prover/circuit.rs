//! What a proof needs of its circuit, on the device.

use cuzk_r1cs::CompiledCircuit;

use crate::{
    CudaError, Device, MsmPlan, Quotient,
    bitmap_sum::{Bitmap, Selection},
    driver::{DeviceBuffer, Transfers},
    elements::{Base, Partial},
    evaluation::Evaluation,
    host_field::{Coordinate, Fp, Fp2},
    tables::QueryTables,
};

/// Page-locked bytes of a proof's results, at most: 16 windows of 32 entries for each of six sums.
pub(super) const MAX_RESULT_BYTES: usize = 2 << 20;

/// A compiled circuit, ready to be proved.
pub(super) struct CudaCircuit {
    pub(super) evaluation: Evaluation,
    pub(super) quotient: Quotient,
    pub(super) h: MsmPlan,
    pub(super) l: Query,
    pub(super) a: Query,
    pub(super) b: Query,
    /// Page-locked bytes of a proof's copies.
    pub(super) transfer_bytes: usize,
}

/// Which values are multiplied with which bases of a query.
pub(super) struct Query {
    selection: Option<DeviceBuffer<u64>>,
    first_aux: u32,
    pub(super) wide: MsmPlan,
    pub(super) scalar_numbers: DeviceBuffer<u32>,
    pub(super) base_numbers: DeviceBuffer<u32>,
}

impl CudaCircuit {
    pub(super) fn new(device: &Device, circuit: &CompiledCircuit) -> Result<Self, CudaError> {
        let shape = circuit.shape();
        let mut prepared = Self {
            evaluation: Evaluation::new(device, circuit)?,
            quotient: Quotient::new(device, shape.log_domain())?,
            h: MsmPlan::new(shape.domain_size() - 1),
            l: Query::new(device, &QueryTables::of_l(circuit))?,
            a: Query::new(device, &QueryTables::of_a(circuit))?,
            b: Query::new(device, &QueryTables::of_b(circuit))?,
            transfer_bytes: 0,
        };
        prepared.transfer_bytes = witness_bytes(circuit) + prepared.result_bytes();
        Ok(prepared)
    }

    fn result_bytes(&self) -> usize {
        let bits = 3 * point_bytes::<Fp>() + point_bytes::<Fp2>();
        let wide = [self.h, self.l.wide, self.a.wide, self.b.wide].map(window_bytes::<Fp>);
        let number = Transfers::rounded(size_of::<u32>());
        2 * number + bits + wide.iter().sum::<usize>() + window_bytes::<Fp2>(self.b.wide)
    }
}

/// Page-locked bytes of a packed witness.
pub(super) fn witness_bytes(circuit: &CompiledCircuit) -> usize {
    const SCALAR: usize = 32;
    let (shape, kinds) = (circuit.shape(), circuit.kinds());
    Transfers::rounded(shape.num_aux.div_ceil(64) * 8)
        + Transfers::rounded(SCALAR * shape.num_inputs)
        + Transfers::rounded(SCALAR * kinds.num_wide())
}

fn point_bytes<C: Coordinate>() -> usize {
    Transfers::rounded(size_of::<Base<C>>())
}

fn window_bytes<C: Coordinate>(plan: MsmPlan) -> usize {
    Transfers::rounded(plan.num_results() * size_of::<Partial<C>>())
}

impl Query {
    fn new(device: &Device, tables: &QueryTables) -> Result<Self, CudaError> {
        let selection = if tables.selection.is_empty() {
            None
        } else {
            Some(device.uploaded(&tables.selection)?)
        };
        Ok(Self {
            selection,
            first_aux: tables.first_aux,
            wide: MsmPlan::new(tables.wide.scalars.len()),
            scalar_numbers: device.uploaded(&tables.wide.scalars)?,
            base_numbers: device.uploaded(&tables.wide.bases)?,
        })
    }

    /// The bits of `plane` that have a base in the query.
    pub(super) fn bitmap<'a>(&'a self, plane: &'a DeviceBuffer<u32>, len: usize) -> Bitmap<'a> {
        Bitmap {
            words: plane,
            len,
            selection: self.selection.as_ref().map(|words| Selection {
                words,
                first: self.first_aux,
            }),
        }
    }
}
