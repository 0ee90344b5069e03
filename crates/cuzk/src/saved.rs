//! Requests as files, laid out so that `prove` and `verify` take them: what a newcomer needs who
//! has no sector. One folder per kind: the payloads as a client would send them, what the chain would
//! know, and the proof.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use bytes::Bytes;
use cuzk_circuits::{Family, PoStRequest, ProofRequest, PublicData, SnapDealsRequest};

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
        let written = write_request(request, &|name| folder.join(name))?;
        let public = serde_json::to_vec_pretty(public).context("writing public data as JSON")?;
        Ok(Self {
            family,
            options: written.options,
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

/// The payloads of a request in files.
#[derive(Debug)]
pub(crate) struct WrittenRequest {
    /// Options of `prove` that describe the request.
    pub(crate) options: String,
    /// What was written.
    pub(crate) files: Vec<PathBuf>,
    /// All of it.
    pub(crate) bytes: u64,
}

/// Writes the payloads of a request; `place` says where the file of a name goes.
///
/// # Errors
/// Resource, when a folder or a file cannot be written.
pub(crate) fn write_request(
    request: &ProofRequest,
    place: &dyn Fn(&str) -> PathBuf,
) -> anyhow::Result<WrittenRequest> {
    let payloads: Vec<(String, &Bytes)> = match request {
        ProofRequest::PoRep(request) => vec![("c1.json".to_owned(), &request.vanilla_proof)],
        ProofRequest::SnapDeals(SnapDealsRequest { vanilla_proofs, .. })
        | ProofRequest::WindowPoSt(PoStRequest { vanilla_proofs, .. })
        | ProofRequest::WinningPoSt(PoStRequest { vanilla_proofs, .. }) => vanilla_proofs
            .iter()
            .enumerate()
            .map(|(index, proof)| (format!("vanilla-{index}.bin"), proof))
            .collect(),
    };
    let mut files = Vec::with_capacity(payloads.len());
    let mut bytes = 0;
    for (name, payload) in payloads {
        let path = place(&name);
        if let Some(folder) = path.parent().filter(|path| !path.as_os_str().is_empty()) {
            create_folder(folder)?;
        }
        files.push(write_file(path, payload)?);
        bytes += payload.len() as u64;
    }
    let names: Vec<String> = files.iter().map(|path| shell_word(path)).collect();
    Ok(WrittenRequest {
        options: options_of(request, &names.join(" ")),
        files,
        bytes,
    })
}

/// Options of `prove` for a request whose payloads are in `files`.
fn options_of(request: &ProofRequest, files: &str) -> String {
    match request {
        ProofRequest::PoRep(request) => format!("--c1 {files} --miner-id {}", request.miner_id),
        ProofRequest::SnapDeals(request) => format!(
            "--registered-proof {} --comm-r-old {} --comm-r-new {} --comm-d-new {} --vanilla {files}",
            request.registered_proof,
            hex(&request.comm_r_old),
            hex(&request.comm_r_new),
            hex(&request.comm_d_new),
        ),
        ProofRequest::WindowPoSt(request) => format!(
            "--partition-index {} {}",
            request.partition_index,
            post_options(request, files)
        ),
        ProofRequest::WinningPoSt(request) => post_options(request, files),
    }
}

fn post_options(request: &PoStRequest, files: &str) -> String {
    format!(
        "--registered-proof {} --miner-id {} --randomness {} --vanilla {files}",
        request.registered_proof,
        request.miner_id,
        hex(&request.randomness),
    )
}

fn write_file(path: PathBuf, content: &[u8]) -> anyhow::Result<PathBuf> {
    fs::write(&path, content).or_exit(ExitClass::Resource, || {
        format!("writing {}", path.display())
    })?;
    Ok(path)
}
