//! How fast do bytes get onto the card, and from one place on it to another? A witness travels through page-locked memory, a
//! streamed key from the pages of its file, and what a kernel writes is bounded by what a copy writes.

use crate::{
    CopyLine, CudaError, Device, RawScalar,
    driver::{DeviceBuffer, Transfers},
};

/// Bytes that are uploaded to measure the bus.
const UPLOADED: usize = 1 << 29;
/// Elements that are copied to measure the card's memory: 2 GiB.
const COPIED: usize = 1 << 26;

/// Rates of copies, in bytes per second.
#[derive(Debug, Clone, Copy)]
pub(super) struct Copies {
    page_locked: f64,
    pageable: f64,
    /// Bytes that are written; as many are read.
    pub(super) on_device: f64,
}

impl Copies {
    pub(super) fn measure(device: &Device) -> Result<Self, CudaError> {
        let (page_locked, pageable) = uploads(device)?;
        Ok(Self {
            page_locked,
            pageable,
            on_device: on_device(device)?,
        })
    }

    pub(super) fn lines(self) -> Vec<CopyLine> {
        CopyLine::all(&[
            ("upload, page-locked", self.page_locked),
            ("upload, pageable", self.pageable),
            ("on the device", self.on_device),
        ])
    }
}

/// The rates of uploads from page-locked and from pageable memory.
fn uploads(device: &Device) -> Result<(f64, f64), CudaError> {
    let session = device.session();
    let bytes = vec![1; UPLOADED];
    let mut to: DeviceBuffer<RawScalar> = session.allocate(UPLOADED / size_of::<RawScalar>())?;
    let pageable = device.best(|| session.upload_bytes(&mut to, 0, &bytes))?;
    let mut transfers = Transfers::new(session, UPLOADED)?;
    transfers.upload(session, &bytes, &mut to, 0)?;
    let page_locked = device.best(|| transfers.upload_again(session, &mut to))?;
    Ok((UPLOADED as f64 / page_locked, UPLOADED as f64 / pageable))
}

fn on_device(device: &Device) -> Result<f64, CudaError> {
    let session = device.session();
    let from: DeviceBuffer<RawScalar> = session.allocate(COPIED)?;
    let mut to = session.allocate(COPIED)?;
    let seconds = device.best(|| session.copy(&from, &mut to))?;
    Ok((COPIED * size_of::<RawScalar>()) as f64 / seconds)
}
