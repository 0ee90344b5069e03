//! What a proof needs of its circuit, on the device, and how its sums are cut where the key is not.

use std::sync::Arc;

use cuzk_groth16::{DeviceError, QueryCounts, Section};
use cuzk_r1cs::CompiledCircuit;

use super::cut::{Cut, Tables, WHOLE};
use super::key::{CudaKey, KeyQueries, ResidentKey};
use super::shared::{PassLobby, SPARE_BYTES, Shared};
use super::{device_error, no_room};
use crate::{
    CudaError, Device, MsmPlan, PassPlan, ProofSizes, Quotient, Streaming,
    bitmap_sum::{Bitmap, BitmapSum, Selection},
    driver::{DeviceBuffer, Transfers},
    elements::Partial,
    evaluation::Evaluation,
    footprint::work_bytes,
    host_field::{Coordinate, Fp, Fp2},
    multiexp::TermNumbers,
    pass_plan::{G1_BASE_BYTES, G2_BASE_BYTES, room_bytes},
    rooms::Room,
    tables::{QueryPart, QueryTables},
};

const SCALAR_BYTES: u64 = 32;
/// Windows of a sum, at most, each with so many entries left for the host.
const MAX_WINDOWS: usize = 37;
const MAX_ENTRIES: usize = 32;

/// Bytes of a witness that is copied to page-locked memory of its own, at most, so that `start` does not wait for the card. Allocating
/// as much as a full WindowPoSt has takes longer than that.
pub(super) const MAX_COPIED_WITNESS: usize = SPARE_BYTES / 2;

/// A compiled circuit, ready to be proved.
pub(super) struct CudaCircuit {
    pub(super) key: KeyQueries,
    /// What a proof takes, where that is not said by the key.
    _room: Option<Room>,
    pub(super) evaluation: Evaluation,
    pub(super) quotient: Quotient,
    pub(super) l: Query,
    pub(super) a: Query,
    pub(super) b_g1: Query,
    pub(super) b_g2: Query,
    pub(super) domain_size: usize,
    cut: Cut,
    /// For when there is less memory than the other one takes.
    small: Option<Cut>,
    pub(super) sizes: ProofSizes,
    /// Page-locked bytes of a proof's results, and of its witness where that does not pass through the uploader.
    pub(super) transfer_bytes: usize,
    /// Proofs that were started and are not in a pass yet; those with a key on the device do not wait.
    pub(super) lobby: Arc<PassLobby>,
}

/// Which values are multiplied with which bases of a query: its tables on the device.
pub(super) struct Query {
    selection: Option<DeviceBuffer<u64>>,
    first_aux: u32,
    scalar_numbers: DeviceBuffer<u32>,
    base_numbers: DeviceBuffer<u32>,
}

impl Tables {
    /// Device bytes of a proof beside a key on the card.
    fn resident_bytes(&self, domain_size: usize, sizes: ProofSizes) -> u64 {
        let in_g1 = [&self.l, &self.a, &self.b].map(|tables| (tables, G1_BASE_BYTES));
        let queries = in_g1.into_iter().chain([(&self.b, G2_BASE_BYTES)]);
        let sums = queries.map(|(tables, bytes)| room_bytes(tables.wide.scalars.len(), bytes));
        let largest = sums.fold(sizes.bitmap_bytes, u64::max);
        sizes.witness_bytes + work_bytes(domain_size as u64, largest)
    }
}

impl CudaCircuit {
    /// Uploads the circuit's tables, and says where proofs find the key: on the card, where it is and leaves room for them, or
    /// in its file.
    pub(super) fn new(
        shared: &Arc<Shared>,
        circuit: &CompiledCircuit,
        key: &CudaKey,
    ) -> Result<Self, DeviceError> {
        let (device, shape) = (&shared.device, circuit.shape());
        let sizes = proof_sizes(device, circuit);
        let tables = Tables {
            l: QueryTables::of_l(circuit),
            a: QueryTables::of_a(circuit),
            b: QueryTables::of_b(circuit),
        };
        // Nobody else takes memory until it is known what this circuit needs.
        let turn = shared.turn.wait();
        let evaluation = Evaluation::new(device, circuit).map_err(device_error)?;
        let quotient = Quotient::new(device, shape.log_domain()).map_err(device_error)?;
        let queries = [&tables.l, &tables.a, &tables.b, &tables.b]
            .map(|tables| Query::new(device, tables).map_err(device_error));
        let [l, a, b_g1, b_g2] = queries;
        let (l, a, b_g1, b_g2) = (l?, a?, b_g1?, b_g2?);
        let resident = || {
            let key = key.resident()?;
            key.room
                .resize(tables.resident_bytes(shape.domain_size(), sizes));
            Some(key)
        };
        let witness = witness_bytes(circuit);
        let (key, plan, room) = match resident() {
            Some(key) if shared.expect_rooms().is_ok() => {
                let uploader = (witness > MAX_COPIED_WITNESS).then(|| shared.uploader());
                let key = KeyQueries::Resident(key, uploader.transpose()?);
                (key, WHOLE, None)
            }
            on_card => streamed(shared, (key, on_card), sizes)?,
        };
        shared.expect_rooms()?;
        drop(turn);
        let cut = |plan| Cut::new(plan, shape.domain_size(), &tables);
        let (copied, small) = match &key {
            KeyQueries::Resident(_, None) => (witness, None),
            KeyQueries::Resident(_, Some(_)) => (0, None),
            KeyQueries::Streamed(..) => (0, plan.smaller().map(cut)),
        };
        let cut = cut(plan);
        let of_small = small.as_ref().map_or(0, Cut::result_bytes);
        let results = cut.result_bytes().max(of_small);
        Ok(Self {
            key,
            _room: room,
            evaluation,
            quotient,
            l,
            a,
            b_g1,
            b_g2,
            domain_size: shape.domain_size(),
            cut,
            small,
            sizes,
            transfer_bytes: copied + mark_bytes() + results,
            lobby: Arc::new(PassLobby::new()),
        })
    }

    /// Proofs that share a pass at most.
    pub(super) const fn proofs_per_pass(&self) -> usize {
        self.cut.plan.proofs
    }

    /// The pass that can be queued now: of whole queries where the key is on the card, else of the largest parts for which there is
    /// memory. With less than the smallest take, that is one of one proof, whose own allocations tell what is missing.
    pub(super) fn next_pass(&self, device: &Device) -> (&Cut, PassPlan) {
        if let KeyQueries::Resident(..) = self.key {
            return (&self.cut, self.cut.plan);
        }
        let available = device.available_memory();
        let cuts = std::iter::once(&self.cut).chain(&self.small);
        let mut fitting = cuts.filter_map(|cut| Some((cut, cut.fitting(self.sizes, available)?)));
        fitting.next().unwrap_or_else(|| {
            let smallest = self.small.as_ref().unwrap_or(&self.cut);
            (smallest, smallest.plan.alone())
        })
    }
}

/// Page-locked bytes of the marks of rows and points that are none, which travel in both directions.
fn mark_bytes() -> usize {
    let marks = [1, Section::QUERIES.len()];
    let bytes = marks.map(|count| Transfers::rounded(count * size_of::<u32>()));
    2 * bytes.iter().sum::<usize>()
}

/// The key in its file, a plan for it by what is free once the circuit's tables are on the device, and the room of the smallest pass.
/// A key that is on the card, but leaves no room for a proof, gives way.
fn streamed(
    shared: &Arc<Shared>,
    (key, on_card): (&CudaKey, Option<Arc<ResidentKey>>),
    sizes: ProofSizes,
) -> Result<(KeyQueries, PassPlan, Option<Room>), DeviceError> {
    let device = &shared.device;
    let Some(file) = key.file.as_ref() else {
        return Err(no_room(shared.rooms.largest(), device));
    };
    drop(on_card);
    key.leave_card();
    let queries = KeyQueries::Streamed(Arc::clone(file), shared.uploader()?);
    let plan = match shared.streaming {
        // What a caller plans is his business.
        Streaming::Planned(plan) => return Ok((queries, plan, None)),
        Streaming::All | Streaming::WhatDoesNotFit => {
            PassPlan::within(sizes, device.available_memory())
                .map_err(|needed| no_room(needed, device))?
        }
    };
    let smallest = plan.smaller().unwrap_or(plan).alone().bytes(sizes);
    Ok((queries, plan, Some(shared.rooms.keep(smallest))))
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

/// Page-locked bytes of a proof's results, at most, when queries are cut by the plan.
pub(super) fn max_result_bytes(counts: &QueryCounts, plan: PassPlan) -> usize {
    const OF_G1: usize = MAX_WINDOWS * MAX_ENTRIES * size_of::<Partial<Fp>>();
    const OF_G2: usize = MAX_WINDOWS * MAX_ENTRIES * size_of::<Partial<Fp2>>();
    // A part ends with 32 private variables, so there may be a part more than the number of bases asks for.
    let parts = |bases: u64, max: usize| match bases as usize {
        few if few <= max => 1,
        many => 2 + many / max,
    };
    let PassPlan { max_g1, .. } = plan;
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
pub(super) fn window_bytes<C: Coordinate>(num_terms: usize) -> usize {
    let plan = MsmPlan::new(num_terms);
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
            scalar_numbers: device.uploaded(&tables.wide.scalars)?,
            base_numbers: device.uploaded(&tables.wide.bases)?,
        })
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
