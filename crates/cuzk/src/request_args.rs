//! The options that describe a request to `prove` and `verify`, one set per kind, as close to the
//! fields of the wire as files and a command line allow.

use std::path::{Path, PathBuf};

use bytes::Bytes;
use clap::Args;
use cuzk_circuits::{
    DecodeError, PoRepRequest, PoStProof, PoStRequest, ProofRequest, SealProof, SnapDealsRequest,
    Statement, UnknownRegisteredProof, UpdateProof, synthetic,
};

use crate::{
    encoding::Hex32,
    exit::{ExitClass, OrExit as _, classed},
    input_file::read,
    option_values::whole,
};

/// A request and the files that its payloads come from.
#[derive(Debug)]
pub(crate) struct FileRequest {
    pub(crate) request: ProofRequest,
    pub(crate) files: PayloadFiles,
}

/// The files of a request's payloads, in order.
#[derive(Debug)]
pub(crate) struct PayloadFiles(Vec<PathBuf>);

/// A miner's id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MinerId(u64);

impl std::str::FromStr for MinerId {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let digits = ["f0", "t0"]
            .iter()
            .find_map(|prefix| text.strip_prefix(prefix))
            .unwrap_or(text);
        let id = digits
            .parse()
            .map_err(|_| anyhow::anyhow!("{text:?} is no miner id such as 1000 or f01000"))?;
        Ok(Self(id))
    }
}

/// A proof of replication: C1 output and the miner.
#[derive(Debug, Args)]
pub(crate) struct PoRepArgs {
    /// C1 output as clients send it: JSON with `SectorNum`, `Phase1Out` and `SectorSize`
    #[arg(long, value_name = "FILE")]
    c1: PathBuf,
    /// The miner, such as 1000 or f01000
    #[arg(long, value_name = "ID")]
    miner_id: MinerId,
    /// Refuse C1 output of another registered seal proof, by number or name
    #[arg(long, value_name = "PROOF", value_parser = seal_proof)]
    registered_proof: Option<SealProof>,
    /// Refuse C1 output of another sector
    #[arg(long, value_name = "N", value_parser = whole::<u64>)]
    sector_number: Option<u64>,
}

/// A sector update: vanilla proofs of all partitions and the three commitments.
#[derive(Debug, Args)]
pub(crate) struct SnapDealsArgs {
    /// Vanilla proofs, one file per partition, in order
    #[arg(long, value_name = "FILES", num_args = 1.., required = true)]
    vanilla: Vec<PathBuf>,
    /// The registered update proof, by number (0 is 2 KiB, 3 is 32 GiB) or name
    #[arg(long, value_name = "PROOF", value_parser = update_proof)]
    registered_proof: UpdateProof,
    /// Commitment to the replica before the update
    #[arg(long, value_name = "HEX")]
    comm_r_old: Hex32,
    /// Commitment to the updated replica
    #[arg(long, value_name = "HEX")]
    comm_r_new: Hex32,
    /// Commitment to the new data
    #[arg(long, value_name = "HEX")]
    comm_d_new: Hex32,
}

/// A proof of spacetime: vanilla proofs of all sectors and the chain's randomness.
#[derive(Debug, Args)]
pub(crate) struct PoStArgs {
    /// Vanilla proofs, one file per sector, by ascending sector number
    #[arg(long, value_name = "FILES", num_args = 1.., required = true)]
    vanilla: Vec<PathBuf>,
    /// The registered `PoSt` proof, by number (32 GiB: 3 winning, 8 or 13 window) or name
    #[arg(long, value_name = "PROOF", value_parser = post_proof)]
    registered_proof: PoStProof,
    /// The miner, such as 1000 or f01000
    #[arg(long, value_name = "ID")]
    miner_id: MinerId,
    /// The chain's randomness
    #[arg(long, value_name = "HEX")]
    randomness: Hex32,
}

/// The sectors of a deadline, or of one partition of it.
#[derive(Debug, Args)]
pub(crate) struct WindowPoStArgs {
    #[command(flatten)]
    sectors: PoStArgs,
    /// Which partition of the call these sectors are, from 0; its sectors must fit one circuit. In the
    /// first version (5 to 9) challenges depend on it
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = whole::<u32>)]
    partition_index: u32,
}

/// The one sector that was drawn for a block.
#[derive(Debug, Args)]
pub(crate) struct WinningPoStArgs {
    #[command(flatten)]
    sectors: PoStArgs,
}

/// The request about the C1 output in a file, of the miner of synthetic sectors unless another is named.
///
/// # Errors
/// Invalid input, when there is no such file or it is malformed.
pub(crate) fn synthetic_or_own(
    c1: &Path,
    miner_id: Option<MinerId>,
) -> anyhow::Result<FileRequest> {
    let miner_id = miner_id.map_or(synthetic::MINER_ID, |miner| miner.0);
    Ok(FileRequest {
        request: ProofRequest::PoRep(replication(c1, miner_id)?),
        files: PayloadFiles(vec![c1.to_owned()]),
    })
}

/// The request about the C1 output in a file.
fn replication(c1: &Path, miner_id: u64) -> anyhow::Result<PoRepRequest> {
    PoRepRequest::from_payload(read(c1)?, miner_id)
        .or_exit(ExitClass::InvalidInput, || c1.display().to_string())
}

impl PoRepArgs {
    pub(crate) fn request(&self) -> anyhow::Result<FileRequest> {
        let mut request = replication(&self.c1, self.miner_id.0)?;
        // What the command line says is compared with the payload when the request is decoded.
        if let Some(proof) = self.registered_proof {
            request.registered_proof = proof.number();
            request.sector_size = proof.sector_size.bytes();
        }
        if let Some(sector_number) = self.sector_number {
            request.sector_number = sector_number;
        }
        Ok(FileRequest {
            request: ProofRequest::PoRep(request),
            files: PayloadFiles(vec![self.c1.clone()]),
        })
    }
}

impl SnapDealsArgs {
    pub(crate) fn request(&self) -> anyhow::Result<FileRequest> {
        let bytes = |hash: Hex32| Bytes::copy_from_slice(&hash.0);
        let request = ProofRequest::SnapDeals(SnapDealsRequest {
            registered_proof: self.registered_proof.number(),
            sector_size: self.registered_proof.sector_size.bytes(),
            comm_r_old: bytes(self.comm_r_old),
            comm_r_new: bytes(self.comm_r_new),
            comm_d_new: bytes(self.comm_d_new),
            vanilla_proofs: read_all(&self.vanilla)?,
        });
        Ok(FileRequest::from_list(request, &self.vanilla))
    }
}

impl WindowPoStArgs {
    pub(crate) fn request(&self) -> anyhow::Result<FileRequest> {
        let request = self.sectors.request(self.partition_index)?;
        let request = ProofRequest::WindowPoSt(request);
        Ok(FileRequest::from_list(request, &self.sectors.vanilla))
    }
}

impl WinningPoStArgs {
    pub(crate) fn request(&self) -> anyhow::Result<FileRequest> {
        // A winning proof is never one of several partitions.
        let request = ProofRequest::WinningPoSt(self.sectors.request(0)?);
        Ok(FileRequest::from_list(request, &self.sectors.vanilla))
    }
}

impl PoStArgs {
    fn request(&self, partition_index: u32) -> anyhow::Result<PoStRequest> {
        Ok(PoStRequest {
            registered_proof: self.registered_proof.number(),
            sector_size: self.registered_proof.sector_size.bytes(),
            miner_id: self.miner_id.0,
            randomness: Bytes::copy_from_slice(&self.randomness.0),
            partition_index,
            vanilla_proofs: read_all(&self.vanilla)?,
        })
    }
}

/// Decodes and checks a request.
///
/// # Errors
/// Invalid input, with the path or the byte of the fault.
pub(crate) fn decode(request: &ProofRequest) -> anyhow::Result<Statement> {
    request
        .decode()
        .or_exit(ExitClass::InvalidInput, || refused(request))
}

/// What stands before every reason why a request is refused.
pub(crate) fn refused(request: &ProofRequest) -> String {
    format!("the {} request is refused", request.family())
}

impl FileRequest {
    fn from_list(request: ProofRequest, files: &[PathBuf]) -> Self {
        Self {
            request,
            files: PayloadFiles(files.to_vec()),
        }
    }

    /// Decodes and checks the request; the payloads are not kept.
    ///
    /// # Errors
    /// As [`PayloadFiles::refused`].
    pub(crate) fn decode(self) -> anyhow::Result<Statement> {
        let decoded = self.request.decode();
        decoded.map_err(|error| self.files.refused(&refused(&self.request), error))
    }
}

impl PayloadFiles {
    /// The failure of a request that cannot be decoded: invalid input, with the file, and the path or the byte of the fault
    /// in it.
    pub(crate) fn refused(&self, refused: &str, error: DecodeError) -> anyhow::Error {
        let file = match (error.vanilla_proof_index(), self.0.as_slice()) {
            // The one payload of a replication holds all that can be wrong.
            (_, [only]) => Some(only),
            (Some(index), files) => files.get(index),
            (None, _) => None,
        };
        let message = match file {
            Some(file) => format!("{}: {refused}", file.display()),
            None => refused.to_owned(),
        };
        classed(ExitClass::InvalidInput, message, error)
    }
}

fn read_all(paths: &[PathBuf]) -> anyhow::Result<Vec<Bytes>> {
    paths.iter().map(|path| read(path)).collect()
}

fn seal_proof(text: &str) -> Result<SealProof, UnknownRegisteredProof> {
    number_or_name(text, SealProof::from_number)
}

fn update_proof(text: &str) -> Result<UpdateProof, UnknownRegisteredProof> {
    number_or_name(text, UpdateProof::from_number)
}

fn post_proof(text: &str) -> Result<PoStProof, UnknownRegisteredProof> {
    number_or_name(text, PoStProof::from_number)
}

fn number_or_name<T: std::str::FromStr<Err = UnknownRegisteredProof>>(
    text: &str,
    from_number: impl FnOnce(u64) -> Result<T, UnknownRegisteredProof>,
) -> Result<T, UnknownRegisteredProof> {
    match text.parse() {
        Ok(number) => from_number(number),
        Err(_) => text.parse(),
    }
}

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    reason = "a failed unwrap is a failed test and says where"
)]
mod tests {
    use super::*;

    #[test]
    fn a_miner_is_a_number_or_an_address() {
        for text in ["1000", "f01000", "t01000"] {
            assert_eq!(text.parse::<MinerId>().unwrap(), MinerId(1000));
        }
        for text in ["", "f0", "f11000", "-1", "1e3"] {
            let error = text.parse::<MinerId>().unwrap_err();
            assert!(error.to_string().contains(&format!("{text:?}")), "{error}");
        }
    }

    #[test]
    fn a_registered_proof_is_a_number_or_a_name() {
        let by_number = seal_proof("8").unwrap();
        assert_eq!(by_number.to_string(), "StackedDrg32GiBV1_1");
        assert_eq!(seal_proof("StackedDrg32GiBV1_1").unwrap(), by_number);
        assert!(post_proof("99").unwrap_err().to_string().contains("99"));
        assert!(update_proof("x").unwrap_err().to_string().contains("\"x\""));
    }
}
