//! Row values from a packed witness, straight into device memory: a, b and c of a large circuit take 12 GiB, and the host
//! never sees them.

use crate::{
    CudaError, Device, RawScalar,
    driver::{Arguments, DeviceBuffer, Grid},
    kernels,
    tables::{RowTables, TemplateRows},
};

const THREADS: u32 = 256;
/// What `violated` of [`Evaluation::run`] holds when all rows hold.
pub(crate) const NO_ROW: u32 = u32::MAX;

/// A circuit's rows on the device.
#[derive(Debug)]
pub struct Evaluation {
    side_ends: DeviceBuffer<u32>,
    places: DeviceBuffer<u32>,
    terms: DeviceBuffer<u64>,
    placements: DeviceBuffer<u32>,
    externals: DeviceBuffer<u32>,
    coefficients: DeviceBuffer<RawScalar>,
    templates: Vec<TemplateRows>,
    num_constraints: u32,
    num_inputs: u32,
}

/// A packed witness on the device.
#[derive(Clone, Copy, Debug)]
pub struct WitnessBuffers<'a> {
    /// Bit i of word w is private variable 32 w + i; zero for wide variables.
    pub plane: &'a DeviceBuffer<u32>,
    /// Public variables, ONE first, then the wide private ones; Montgomery form.
    pub values: &'a DeviceBuffer<RawScalar>,
}

/// Where row values go, each as long as the domain or absent.
#[derive(Debug, Default)]
pub struct RowOutputs<'a> {
    /// Values of the left-hand sides.
    pub a: Option<&'a mut DeviceBuffer<RawScalar>>,
    /// Values of the right-hand sides.
    pub b: Option<&'a mut DeviceBuffer<RawScalar>>,
    /// Values of the products.
    pub c: Option<&'a mut DeviceBuffer<RawScalar>>,
}

impl Evaluation {
    /// Uploads a circuit's rows and coefficients.
    ///
    /// # Errors
    /// [`CudaError::TooManyVariables`], [`CudaError::OutOfMemory`], [`CudaError::Driver`].
    pub fn new(device: &Device, circuit: &cuzk_r1cs::CompiledCircuit) -> Result<Self, CudaError> {
        let tables = RowTables::new(circuit)?;
        let shape = circuit.shape();
        Ok(Self {
            side_ends: device.uploaded(&tables.side_ends)?,
            places: device.uploaded(&tables.places)?,
            terms: device.uploaded(&tables.terms)?,
            placements: device.uploaded(tables.placements.as_flattened())?,
            externals: device.uploaded(&tables.externals)?,
            coefficients: device.upload_scalars(circuit.coefficients())?,
            templates: tables.templates,
            num_constraints: shape.num_constraints as u32,
            num_inputs: shape.num_inputs as u32,
        })
    }

    /// Queues the evaluation of all rows, those of the inputs and the zeros behind them up to the domain's size included.
    /// `violated` must hold a number that is no row's; it becomes the first row with a b != c if there is one.
    ///
    /// # Errors
    /// [`CudaError::Kernel`].
    pub fn run(
        &self,
        device: &Device,
        witness: WitnessBuffers<'_>,
        outputs: &mut RowOutputs<'_>,
        violated: &mut DeviceBuffer<u32>,
    ) -> Result<(), CudaError> {
        for template in &self.templates {
            let arguments = outputs
                .pass()
                .buffer(violated)
                .buffer(witness.plane)
                .buffer_from(witness.values, self.num_inputs as usize)
                .buffer(witness.values)
                .buffer(&self.coefficients);
            let total = template.num_rows * template.num_instances;
            let arguments = self.pass(arguments, template).word(total as u32);
            let grid = Grid::for_items(total as u64, THREADS);
            device
                .session()
                .launch(kernels::EVALUATE, grid, &arguments)?;
        }
        self.last_rows(device, witness, outputs)
    }

    /// Appends a template's part of the tables.
    fn pass(&self, arguments: Arguments, template: &TemplateRows) -> Arguments {
        arguments
            .buffer_from(&self.side_ends, 3 * template.first_row)
            .buffer_from(&self.places, template.first_row)
            .buffer(&self.terms)
            .word(template.first_term)
            .word(template.num_rows as u32)
            .word(template.num_externals as u32)
            .buffer_from(&self.placements, 4 * template.first_placement)
            .buffer_from(&self.externals, template.first_external)
    }

    fn last_rows(
        &self,
        device: &Device,
        witness: WitnessBuffers<'_>,
        outputs: &mut RowOutputs<'_>,
    ) -> Result<(), CudaError> {
        let size = outputs.size();
        let rows = (self.num_constraints + self.num_inputs) as usize;
        if size < rows {
            return Err(CudaError::Length {
                what: "row values",
                got: size,
                expected: rows,
            });
        }
        let count = size as u32 - self.num_constraints;
        let arguments = outputs
            .pass()
            .buffer(witness.values)
            .word(self.num_inputs)
            .word(self.num_constraints)
            .word(count);
        let grid = Grid::for_items(u64::from(count), THREADS);
        device
            .session()
            .launch(kernels::LAST_ROWS, grid, &arguments)
    }
}

impl RowOutputs<'_> {
    fn pass(&self) -> Arguments {
        [&self.a, &self.b, &self.c]
            .into_iter()
            .fold(Arguments::new(), |arguments, side| match side {
                Some(side) => arguments.buffer(side),
                None => arguments.null(),
            })
    }

    /// Length of the shortest output.
    fn size(&self) -> usize {
        [&self.a, &self.b, &self.c]
            .into_iter()
            .flatten()
            .map(|side| side.len())
            .min()
            .unwrap_or(usize::MAX)
    }
}
