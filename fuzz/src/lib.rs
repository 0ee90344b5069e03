//! How a fuzzer's bytes become requests: a few bytes choose the header, the rest is payload.

use bytes::Bytes;
use cuzk_circuits::{PoStRequest, ProofRequest, Statement};

const SECTOR_SIZES: [u64; 6] = [0, 1 << 11, 1 << 23, 1 << 29, 1 << 35, 1 << 36];

/// Bytes that are taken from the front, zeros once they run out.
pub struct Input<'a> {
    rest: &'a [u8],
}

impl<'a> Input<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.rest.split_first() else {
            return 0;
        };
        self.rest = rest;
        *first
    }

    /// A number of a registered proof; one beyond the known ones is among them.
    pub fn registered_proof(&mut self) -> u64 {
        u64::from(self.byte() % 21)
    }

    pub fn sector_size(&mut self) -> u64 {
        SECTOR_SIZES[usize::from(self.byte()) % SECTOR_SIZES.len()]
    }

    /// Everything that is left.
    pub fn payload(&mut self) -> Bytes {
        Bytes::copy_from_slice(std::mem::take(&mut self.rest))
    }

    /// Pieces, each after its length in two bytes; the last one may be short.
    pub fn payloads(&mut self) -> Vec<Bytes> {
        let mut pieces = Vec::new();
        while !self.rest.is_empty() {
            let length = usize::from(u16::from_le_bytes([self.byte(), self.byte()]));
            let (piece, rest) = self.rest.split_at(length.min(self.rest.len()));
            self.rest = rest;
            pieces.push(Bytes::copy_from_slice(piece));
        }
        pieces
    }

    /// A request about sectors in time, with one piece per sector.
    pub fn post_request(&mut self) -> PoStRequest {
        PoStRequest {
            registered_proof: self.registered_proof(),
            sector_size: self.sector_size(),
            miner_id: 1000,
            randomness: Bytes::from_static(&[9; 32]),
            partition_index: u32::from(self.byte()),
            vanilla_proofs: self.payloads(),
        }
    }
}

/// What decodes must have public inputs for every partition.
pub fn decode(request: &ProofRequest) {
    if let Ok(statement) = request.decode() {
        read_inputs(&statement);
    }
}

fn read_inputs(statement: &Statement) {
    for partition in 0..statement.num_partitions() {
        let _ = statement.public_inputs(partition);
    }
}
