//! Requests as files, laid out so that `prove` and `verify` take them: what a newcomer needs who
//! has no sector. One folder per kind: the payloads as a client would send them, what the chain would
//! know, and the proof.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use bytes::Bytes;
use cuzk_circuits::{Family, ProofRequest, PublicData};

use crate::{
    encoding::hex,
    exit::{ExitClass, OrExit as _},
    keys::{create_folder, shell_word},
};

/// A request and its proof in a folder.
#[derive(Debug)]
pub(crate) struct SavedRequest {
    family: Family,
    /// Options of `prove` that describe the request.
    options: String,
    public: PathBuf,
    proof: PathBuf,
}

impl SavedRequest {
    /// Writes a request, its public data and its proof below `folder`.
    ///
    /// # Errors
    /// Resource, when the folder or a file cannot be written.
    pub(crate) fn write(
        folder: &Path,
        request: &ProofRequest,
        public: &PublicData,
        proof: &[u8],
    ) -> anyhow::Result<Self> {
        let family = request.family();
        let folder = folder.join(family.prefix());
        create_folder(&folder)?;
        let options = match request {
            ProofRequest::PoRep(request) => {
                let c1 = write_file(folder.join("c1.json"), &request.vanilla_proof)?;
                format!("--c1 {} --miner-id {}", shell_word(&c1), request.miner_id)
            }
            ProofRequest::SnapDeals(request) => format!(
                "--registered-proof {} --comm-r-old {} --comm-r-new {} --comm-d-new {} --vanilla {}",
                request.registered_proof,
                hex(&request.comm_r_old),
                hex(&request.comm_r_new),
                hex(&request.comm_d_new),
                write_vanilla(&folder, &request.vanilla_proofs)?
            ),
            ProofRequest::WindowPoSt(request) | ProofRequest::WinningPoSt(request) => format!(
                "--registered-proof {} --miner-id {} --randomness {} --vanilla {}",
                request.registered_proof,
                request.miner_id,
                hex(&request.randomness),
                write_vanilla(&folder, &request.vanilla_proofs)?
            ),
        };
        let public = serde_json::to_vec_pretty(public).context("writing public data as JSON")?;
        Ok(Self {
            family,
            options,
            public: write_file(folder.join("public.json"), &public)?,
            proof: write_file(folder.join("proof.bin"), proof)?,
        })
    }

    /// The commands that prove the request again and verify the proof, with keys in `keys`.
    pub(crate) fn commands(&self, keys: &Path) -> [String; 2] {
        let kind = self.family.prefix();
        let options = &self.options;
        let (keys, proof) = (shell_word(keys), shell_word(&self.proof));
        let public = shell_word(&self.public);
        [
            format!("cuzk prove {kind} --keys {keys} --out {proof} {options}"),
            format!("cuzk verify {kind} --keys {keys} --public {public} --proof {proof}"),
        ]
    }
}

fn write_vanilla(folder: &Path, proofs: &[Bytes]) -> anyhow::Result<String> {
    let mut names = Vec::with_capacity(proofs.len());
    for (index, proof) in proofs.iter().enumerate() {
        let path = write_file(folder.join(format!("vanilla-{index}.bin")), proof)?;
        names.push(shell_word(&path));
    }
    Ok(names.join(" "))
}

fn write_file(path: PathBuf, content: &[u8]) -> anyhow::Result<PathBuf> {
    fs::write(&path, content).or_exit(ExitClass::Resource, || {
        format!("writing {}", path.display())
    })?;
    Ok(path)
}
