//! The work of the proofs of a pass, in the order in which the device does it. The quotients are needed for one query only and
//! are large, so they are made a few at a time; the other queries are shared by all proofs of the pass.

use std::{collections::VecDeque, sync::Arc};

use blstrs::G2Projective;
use cuzk_groth16::{G1Sums, Section};
use cuzk_r1cs::PackedWitness;
use group::Group;
use rayon::prelude::*;

use super::circuit::{CudaCircuit, Query};
use super::cut::Cut;
use super::feed::{Feed, Piece, expect_points};
use super::key::{KeyQueries, QueryGroup, Supply};
use super::times::{Marks, ProofTimes, Stage};
use crate::{
    BitmapSum, CudaError, Device, MsmPlan, MultiExp, RawScalar, ScalarForm,
    driver::{Arrived, DeviceBuffer, Download, InFlight, Transfers, as_bytes, raw_scalars},
    elements::{Base, Partial},
    evaluation::{NO_ROW, RowOutputs, WitnessBuffers},
    host_field::{Coordinate, Fp, Fp2},
    kernels::DeviceGroup,
    multiexp::{Pairing, Terms},
    reverse_order,
    tables::QueryPart,
};

/// A proof that waits for its pass.
pub(super) struct Waiting {
    pub(super) witness: PackedWitness,
    pub(super) transfers: Transfers,
}

/// Results of a proof that will arrive.
pub(super) struct Queued {
    violated: Download<u32>,
    bad_points: Option<Download<u32>>,
    sums: QueuedSums,
    marks: Arc<Marks>,
    /// Proofs of the pass.
    num_proofs: u32,
}

#[derive(Default)]
struct QueuedSums {
    h: Vec<WideSum<Fp>>,
    l: Vec<Sum<Fp>>,
    a: Vec<Sum<Fp>>,
    b_g1: Vec<Sum<Fp>>,
    b_g2: Vec<Sum<Fp2>>,
}

/// A sum over field elements as it comes from the device.
struct WideSum<C> {
    plan: MsmPlan,
    windows: Download<Partial<C>>,
}

/// A sum over bits and field elements of a part of a query.
struct Sum<C> {
    bits: Download<Base<C>>,
    wide: WideSum<C>,
}

/// The sums of a proof whose rows all hold.
pub(super) struct Sums {
    pub(super) g1: G1Sums,
    pub(super) b_g2: G2Projective,
}

impl Queued {
    /// Whether the bases were points.
    pub(super) fn expect_points(&self, arrived: &Arrived) -> Result<(), CudaError> {
        self.bad_points
            .map_or(Ok(()), |marks| expect_points(&arrived.read(marks)))
    }

    /// The sums, or the first row that does not hold.
    pub(super) fn read(&self, arrived: &Arrived) -> Result<Sums, usize> {
        if let Some(&row) = arrived.read(self.violated).first()
            && row != NO_ROW
        {
            return Err(row as usize);
        }
        let QueuedSums {
            h,
            l,
            a,
            b_g1,
            b_g2,
        } = &self.sums;
        Ok(Sums {
            g1: G1Sums {
                h: total(h, |part| part.read(arrived)),
                l: total(l, |part| part.read(arrived)),
                a: total(a, |part| part.read(arrived)),
                b: total(b_g1, |part| part.read(arrived)),
            },
            b_g2: total(b_g2, |part| part.read(arrived)),
        })
    }

    /// Device time of the stages, once the results arrived; of a pass for several proofs, each has an equal share.
    pub(super) fn times(&self) -> Result<ProofTimes, CudaError> {
        self.marks.times(self.num_proofs)
    }
}

/// The sum of what the parts hold. Parts are added up on the calling thread's pool; a single one needs none.
fn total<T: Sync, P: Group>(parts: &[T], read: impl Fn(&T) -> P + Send + Sync) -> P {
    match parts {
        [part] => read(part),
        parts => parts
            .par_iter()
            .map(read)
            .reduce(P::identity, |sum, part| sum + part),
    }
}

impl<C: Coordinate> WideSum<C> {
    fn read(&self, arrived: &Arrived) -> C::Point {
        if self.plan.terms == 0 {
            return C::Point::identity();
        }
        self.plan.combine(&arrived.read(self.windows))
    }
}

impl<C: Coordinate> Sum<C> {
    fn read(&self, arrived: &Arrived) -> C::Point {
        let bits = arrived.read(self.bits);
        self.wide.read(arrived) + bits.first().copied().unwrap_or_default().to_point()
    }
}

/// A proof in the course of its pass.
struct Member {
    transfers: Transfers,
    plane: DeviceBuffer<u32>,
    values: DeviceBuffer<RawScalar>,
    /// The number of the first row that does not hold.
    violated: DeviceBuffer<u32>,
    sums: QueuedSums,
}

/// A pass over a key, while it is queued.
pub(super) struct Pass<'a> {
    device: &'a Device,
    circuit: &'a CudaCircuit,
    cut: &'a Cut,
    supply: Supply<'a>,
    marks: Marks,
    members: Vec<Member>,
}

impl<'a> Pass<'a> {
    /// Queues all work of the proofs, as many as the plan of the cut allows; returns what to wait for, in their order.
    pub(super) fn queue(
        device: &'a Device,
        (circuit, cut): (&'a CudaCircuit, &'a Cut),
        (mut proofs, quotients): (Vec<Waiting>, usize),
    ) -> Result<Vec<(InFlight, Queued)>, CudaError> {
        let times_h = proofs.len().div_ceil(quotients.max(1));
        let Some(first) = proofs.first_mut() else {
            return Ok(Vec::new());
        };
        let marks = Marks::new(device)?;
        let supply = match &circuit.key {
            KeyQueries::Resident(key, uploader) => {
                let blocks = uploader.as_ref().map(|uploader| uploader.blocks(device));
                Supply::Resident(key.queries(), blocks)
            }
            KeyQueries::Streamed(key, uploader) => {
                let transfers = &mut first.transfers;
                let pieces = pieces(cut, times_h);
                let feed = Feed::new(device, (key, uploader), pieces, transfers)?;
                Supply::Streamed(Box::new(feed))
            }
        };
        let mut pass = Self {
            device,
            circuit,
            cut,
            supply,
            marks,
            members: Vec::with_capacity(proofs.len()),
        };
        let mut proofs = proofs.into_iter().peekable();
        while proofs.peek().is_some() {
            pass.add_quotients(proofs.by_ref().take(quotients.max(1)))?;
        }
        let l = (&circuit.l, cut.l.as_slice());
        pass.add::<Fp>(l, Section::L, |sums| &mut sums.l)?;
        pass.marks.mark(device, Stage::L)?;
        let a = (&circuit.a, cut.a.as_slice());
        pass.add::<Fp>(a, Section::A, |sums| &mut sums.a)?;
        pass.marks.mark(device, Stage::A)?;
        let b_g1 = (&circuit.b_g1, cut.b_g1.as_slice());
        pass.add::<Fp>(b_g1, Section::BG1, |sums| &mut sums.b_g1)?;
        pass.marks.mark(device, Stage::BG1)?;
        let b_g2 = (&circuit.b_g2, cut.b_g2.as_slice());
        pass.add::<Fp2>(b_g2, Section::BG2, |sums| &mut sums.b_g2)?;
        pass.marks.mark(device, Stage::BG2)?;
        pass.queued()
    }

    /// Uploads the witnesses of some proofs, makes their quotients, and adds up h with these.
    fn add_quotients(&mut self, proofs: impl Iterator<Item = Waiting>) -> Result<(), CudaError> {
        let first = self.members.len();
        for proof in proofs {
            let member = Member::new(self.device, proof, &mut self.supply)?;
            self.members.push(member);
        }
        self.marks.mark(self.device, Stage::Upload)?;
        let mut quotients = Vec::new();
        for member in &mut self.members[first..] {
            let parts = (self.circuit, self.cut);
            quotients.push(member.quotient(self.device, parts, &mut self.marks)?);
        }
        for range in &self.cut.h {
            // Whole queries have one range, which begins with the first base.
            let (present, _first) = self.supply.next::<Fp>(Section::H, range)?;
            for (member, quotient) in self.members[first..].iter_mut().zip(&quotients) {
                let terms = if self.cut.h_is_whole() {
                    Terms::reversed(quotient, ScalarForm::Montgomery)
                } else {
                    Terms::in_order(quotient, ScalarForm::Montgomery, range.clone())
                };
                let to = (self.device, &mut member.transfers);
                let sum = multiply(to, present.buffer(), &terms)?;
                member.sums.h.push(sum);
            }
        }
        self.marks.mark(self.device, Stage::H)
    }

    /// Adds up a query for all proofs, part after part.
    fn add<C: QueryGroup>(
        &mut self,
        (query, parts): (&Query, &[QueryPart]),
        section: Section,
        of: fn(&mut QueuedSums) -> &mut Vec<Sum<C>>,
    ) -> Result<(), CudaError> {
        for part in parts {
            let (present, first_base) = self.supply.next::<C>(section, &part.bases)?;
            for member in &mut self.members {
                let bases = (present.buffer(), first_base);
                let sum = member.sum(self.device, query, part, bases)?;
                of(&mut member.sums).push(sum);
            }
        }
        Ok(())
    }

    /// Everything is queued.
    fn queued(self) -> Result<Vec<(InFlight, Queued)>, CudaError> {
        let session = self.device.session();
        let (marks, num_proofs) = (Arc::new(self.marks), self.members.len() as u32);
        let bad_points = self.supply.bad_points();
        let members = self.members.into_iter().map(|member| {
            let Member {
                mut transfers,
                violated,
                sums,
                ..
            } = member;
            let bad_points = bad_points
                .map(|marks| transfers.download(session, marks, marks.len()))
                .transpose()?;
            let queued = Queued {
                violated: transfers.download(session, &violated, 1)?,
                bad_points,
                sums,
                marks: Arc::clone(&marks),
                num_proofs,
            };
            Ok((transfers.queued(session)?, queued))
        });
        members.collect()
    }
}

/// The parts of a key in the order in which a pass needs them, when h is needed `times_h` times.
fn pieces(cut: &Cut, times_h: usize) -> VecDeque<Piece> {
    let h = std::iter::repeat_n(&cut.h, times_h).flatten().cloned();
    let h = h.map(|bases| (Section::H, bases));
    let queries = [
        (Section::L, &cut.l),
        (Section::A, &cut.a),
        (Section::BG1, &cut.b_g1),
        (Section::BG2, &cut.b_g2),
    ];
    let others = queries.into_iter().flat_map(|(section, parts)| {
        let parts = parts.iter();
        parts.map(move |part| (section, part.bases.clone()))
    });
    let pieces = h.chain(others);
    pieces
        .map(|(section, bases)| Piece { section, bases })
        .collect()
}

impl Member {
    /// Queues the upload of a witness.
    fn new(device: &Device, proof: Waiting, supply: &mut Supply<'_>) -> Result<Self, CudaError> {
        let Waiting {
            witness,
            mut transfers,
        } = proof;
        let (inputs, wide) = (raw_scalars(witness.inputs()), raw_scalars(witness.wide()));
        let to = (device, &mut transfers);
        let plane = supply.upload_witness(to, &[as_bytes(witness.plane())])?;
        let to = (device, &mut transfers);
        let values = supply.upload_witness(to, &[inputs.bytes(), wide.bytes()])?;
        let session = device.session();
        let mut violated = session.allocate(1)?;
        transfers.upload(session, as_bytes(&[NO_ROW]), &mut violated, 0)?;
        Ok(Self {
            transfers,
            plane,
            values,
            violated,
            sums: QueuedSums::default(),
        })
    }

    /// Queues the quotient's coefficients, in order for a query in parts and in bit-reversed order for a whole one.
    fn quotient(
        &mut self,
        device: &Device,
        (circuit, cut): (&CudaCircuit, &Cut),
        marks: &mut Marks,
    ) -> Result<DeviceBuffer<RawScalar>, CudaError> {
        let session = device.session();
        let mut a = session.allocate(circuit.domain_size)?;
        let mut b = session.allocate(circuit.domain_size)?;
        let mut c = session.allocate(circuit.domain_size)?;
        let witness = WitnessBuffers {
            plane: &self.plane,
            values: &self.values,
        };
        let mut outputs = RowOutputs {
            a: Some(&mut a),
            b: Some(&mut b),
            c: Some(&mut c),
        };
        circuit
            .evaluation
            .run(device, witness, &mut outputs, &mut self.violated)?;
        marks.mark(device, Stage::Evaluate)?;
        circuit.quotient.run(device, &mut a, &mut b, &mut c)?;
        if !cut.h_is_whole() {
            reverse_order(device, &mut c)?;
        }
        marks.mark(device, Stage::Quotient)?;
        Ok(c)
    }

    /// Queues the sum over a part of a query.
    fn sum<C: DeviceGroup>(
        &mut self,
        device: &Device,
        query: &Query,
        part: &QueryPart,
        (bases, first_base): (&DeviceBuffer<Base<C>>, u32),
    ) -> Result<Sum<C>, CudaError> {
        let mut room = BitmapSum::new(device, part.positions.len())?;
        let bitmap = query.bitmap(&self.plane, part, first_base);
        room.queue(device, bases, &bitmap)?;
        let bits = self
            .transfers
            .download(device.session(), room.result(), 1)?;
        drop(room);
        let terms = Terms {
            scalars: &self.values,
            form: ScalarForm::Montgomery,
            range: part.wide.clone(),
            pairing: Pairing::Listed(query.numbers(first_base)),
        };
        let wide = multiply((device, &mut self.transfers), bases, &terms)?;
        Ok(Sum { bits, wide })
    }
}

/// Queues a sum over field elements and the download of its windows.
fn multiply<C: DeviceGroup>(
    (device, transfers): (&Device, &mut Transfers),
    bases: &DeviceBuffer<Base<C>>,
    terms: &Terms<'_>,
) -> Result<WideSum<C>, CudaError> {
    let session = device.session();
    let plan = MsmPlan::new(terms.range.len());
    let windows = if plan.terms == 0 {
        transfers.download(session, &session.allocate(0)?, 0)?
    } else {
        let mut room = MultiExp::new(device, plan)?;
        let entries = room.queue(device, bases, terms)?;
        transfers.download(session, entries, plan.num_results())?
    };
    Ok(WideSum { plan, windows })
}
