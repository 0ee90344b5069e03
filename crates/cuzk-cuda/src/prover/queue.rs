//! The work of one proof, in the order in which the device does it.

use blstrs::G2Projective;
use cuzk_groth16::{G1Sums, Section};
use cuzk_r1cs::PackedWitness;
use group::Group;

use super::circuit::{CudaCircuit, Query};
use super::key::{Bases, KeyQueries};
use super::times::{Marks, ProofTimes};
use crate::{
    BitmapSum, CudaError, Device, MsmPlan, MultiExp, RawScalar, ScalarForm,
    driver::{Arrived, DeviceBuffer, Download, Transfers, as_bytes, raw_scalars},
    elements::{Base, Partial},
    evaluation::{RowOutputs, WitnessBuffers},
    host_field::{Coordinate, Fp, Fp2},
    kernels::DeviceGroup,
    multiexp::Terms,
    reverse_order,
    tables::QueryPart,
};

/// What `violated` holds when all rows hold.
const NO_ROW: u32 = u32::MAX;

/// Results that will arrive.
pub(super) struct Queued {
    violated: Download<u32>,
    h: Vec<WideSum<Fp>>,
    l: Vec<Sum<Fp>>,
    a: Vec<Sum<Fp>>,
    b_g1: Vec<Sum<Fp>>,
    b_g2: Vec<Sum<Fp2>>,
    marks: Marks,
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
    /// The sums, or the first row that does not hold.
    pub(super) fn read(&self, arrived: &Arrived) -> Result<Sums, usize> {
        if let Some(&row) = arrived.read(self.violated).first()
            && row != NO_ROW
        {
            return Err(row as usize);
        }
        Ok(Sums {
            g1: G1Sums {
                h: self.h.iter().map(|part| part.read(arrived)).sum(),
                l: total(&self.l, arrived),
                a: total(&self.a, arrived),
                b: total(&self.b_g1, arrived),
            },
            b_g2: total(&self.b_g2, arrived),
        })
    }

    /// Device time of the stages, once the results arrived.
    pub(super) fn times(&self) -> Result<ProofTimes, CudaError> {
        self.marks.times()
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

fn total<C: Coordinate>(parts: &[Sum<C>], arrived: &Arrived) -> C::Point {
    parts.iter().map(|part| part.read(arrived)).sum()
}

/// A proof's work, while it is queued.
pub(super) struct Queue<'a> {
    device: &'a Device,
    circuit: &'a CudaCircuit,
    key: &'a KeyQueries,
    transfers: Transfers,
    marks: Marks,
    plane: DeviceBuffer<u32>,
    values: DeviceBuffer<RawScalar>,
}

impl<'a> Queue<'a> {
    /// Queues the upload of a witness.
    pub(super) fn new(
        device: &'a Device,
        (circuit, key): (&'a CudaCircuit, &'a KeyQueries),
        mut transfers: Transfers,
        witness: &PackedWitness,
    ) -> Result<Self, CudaError> {
        let session = device.session();
        let marks = Marks::new(device)?;
        let (inputs, wide) = (witness.inputs(), witness.wide());
        let mut plane = session.allocate(2 * witness.plane().len())?;
        let mut values = session.allocate(inputs.len() + wide.len())?;
        transfers.upload(session, as_bytes(witness.plane()), &mut plane, 0)?;
        transfers.upload(session, raw_scalars(inputs).bytes(), &mut values, 0)?;
        let wide = raw_scalars(wide);
        transfers.upload(session, wide.bytes(), &mut values, inputs.len())?;
        Ok(Self {
            device,
            circuit,
            key,
            transfers,
            marks,
            plane,
            values,
        })
    }

    /// Queues everything that follows, over a domain of `domain_size` rows.
    pub(super) fn queue(mut self, domain_size: usize) -> Result<(Transfers, Queued), CudaError> {
        let (circuit, key) = (self.circuit, self.key);
        self.marks.mark(self.device)?;
        let (quotient, violated) = self.quotient(domain_size)?;
        let h = self.quotient_sum(&quotient)?;
        drop(quotient);
        let l = self.sum(&circuit.l, &key.g1(Section::L))?;
        let a = self.sum(&circuit.a, &key.g1(Section::A))?;
        let b_g1 = self.sum(&circuit.b_g1, &key.g1(Section::BG1))?;
        let b_g2 = self.sum(&circuit.b_g2, &key.b_g2())?;
        let queued = Queued {
            violated,
            h,
            l,
            a,
            b_g1,
            b_g2,
            marks: self.marks,
        };
        Ok((self.transfers, queued))
    }

    /// The quotient's coefficients in order, and the first row that is violated.
    fn quotient(
        &mut self,
        domain_size: usize,
    ) -> Result<(DeviceBuffer<RawScalar>, Download<u32>), CudaError> {
        let session = self.device.session();
        let mut violated = session.allocate(1)?;
        self.transfers
            .upload(session, as_bytes(&[NO_ROW]), &mut violated, 0)?;
        let mut a = session.allocate(domain_size)?;
        let mut b = session.allocate(domain_size)?;
        let mut c = session.allocate(domain_size)?;
        let witness = WitnessBuffers {
            plane: &self.plane,
            values: &self.values,
        };
        let mut outputs = RowOutputs {
            a: Some(&mut a),
            b: Some(&mut b),
            c: Some(&mut c),
        };
        self.circuit
            .evaluation
            .run(self.device, witness, &mut outputs, &mut violated)?;
        let violated = self.transfers.download(session, &violated, 1)?;
        self.marks.mark(self.device)?;
        self.circuit
            .quotient
            .run(self.device, &mut a, &mut b, &mut c)?;
        reverse_order(self.device, &mut c)?;
        self.marks.mark(self.device)?;
        Ok((c, violated))
    }

    /// The sum over the quotient's coefficients.
    fn quotient_sum(
        &mut self,
        quotient: &DeviceBuffer<RawScalar>,
    ) -> Result<Vec<WideSum<Fp>>, CudaError> {
        let bases = self.key.g1(Section::H);
        let mut sums = Vec::new();
        for range in &self.circuit.h {
            // Whole queries have one range, which begins with the first base.
            let (present, _first) = bases.present(self.device, range.clone())?;
            let terms = Terms::in_order(quotient, ScalarForm::Montgomery, range.clone());
            let to = (self.device, &mut self.transfers);
            sums.push(multiply(to, present.buffer(), &terms)?);
        }
        self.marks.mark(self.device)?;
        Ok(sums)
    }

    /// The sum over a query, in parts.
    fn sum<C: DeviceGroup>(
        &mut self,
        query: &Query,
        bases: &Bases<'_, C>,
    ) -> Result<Vec<Sum<C>>, CudaError> {
        let mut sums = Vec::new();
        for part in &query.parts {
            let (present, first_base) = bases.present(self.device, part.bases.clone())?;
            let bits = self.add_bits(query, part, (present.buffer(), first_base))?;
            let terms = Terms {
                scalars: &self.values,
                form: ScalarForm::Montgomery,
                range: part.wide.clone(),
                numbers: Some(query.numbers(first_base)),
            };
            let to = (self.device, &mut self.transfers);
            let wide = multiply(to, present.buffer(), &terms)?;
            sums.push(Sum { bits, wide });
        }
        self.marks.mark(self.device)?;
        Ok(sums)
    }

    /// The sum of the bases of a part whose variables are one.
    fn add_bits<C: DeviceGroup>(
        &mut self,
        query: &Query,
        part: &QueryPart,
        (bases, first_base): (&DeviceBuffer<Base<C>>, u32),
    ) -> Result<Download<Base<C>>, CudaError> {
        let mut room = BitmapSum::new(self.device, part.positions.len())?;
        let bitmap = query.bitmap(&self.plane, part, first_base);
        room.queue(self.device, bases, &bitmap)?;
        self.transfers
            .download(self.device.session(), room.result(), 1)
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
