//! One valid output and one valid spend, made from fixed seeds, and the checks a node would make of their proofs.

use bellman::groth16::Proof;
use bls12_381::Bls12;
use jubjub::{ExtendedPoint, Fr as JubjubScalar};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use sapling_crypto::circuit::{
    Output, OutputParameters, Spend, SpendParameters, ValueCommitmentOpening,
};
use sapling_crypto::keys::ExpandedSpendingKey;
use sapling_crypto::prover::SpendProver;
use sapling_crypto::value::{NoteValue, ValueCommitTrapdoor, ValueCommitment};
use sapling_crypto::{
    Diversifier, MerklePath, Node, Note, PaymentAddress, Rseed, SaplingVerificationContext,
};

const SIGHASH: [u8; 32] = [0x5a; 32];

/// Keys and a note of one user.
struct Owner {
    key: ExpandedSpendingKey,
    diversifier: Diversifier,
    address: PaymentAddress,
}

impl Owner {
    fn new(rng: &mut ChaCha20Rng) -> Self {
        let key = ExpandedSpendingKey::from_spending_key(b"a spending key for tests only, 32");
        let viewing_key = key.proof_generation_key().to_viewing_key();
        // About half of the diversifiers belong to a point.
        loop {
            let mut bytes = [0; 11];
            rng.fill_bytes(&mut bytes);
            let diversifier = Diversifier(bytes);
            if let Some(address) = viewing_key.to_payment_address(diversifier) {
                return Self {
                    key,
                    diversifier,
                    address,
                };
            }
        }
    }
}

fn jubjub_scalar(rng: &mut ChaCha20Rng) -> JubjubScalar {
    let mut wide = [0; 64];
    rng.fill_bytes(&mut wide);
    JubjubScalar::from_bytes_wide(&wide)
}

/// A new note, as its creator publishes it.
pub(crate) struct OutputStatement {
    pub(crate) circuit: Output,
    commitment: ValueCommitment,
    note: Note,
    ephemeral_key: ExtendedPoint,
}

impl OutputStatement {
    pub(crate) fn new(seed: u64) -> Self {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let owner = Owner::new(&mut rng);
        let value = NoteValue::from_raw(rng.next_u64());
        let trapdoor = ValueCommitTrapdoor::random(&mut rng);
        let rcm = jubjub_scalar(&mut rng);
        let esk = jubjub_scalar(&mut rng);
        let base = owner
            .diversifier
            .g_d()
            .expect("the address was made with it");
        Self {
            circuit: Output {
                value_commitment_opening: Some(ValueCommitmentOpening {
                    value,
                    randomness: trapdoor.inner(),
                }),
                payment_address: Some(owner.address),
                commitment_randomness: Some(rcm),
                esk: Some(esk),
            },
            commitment: ValueCommitment::derive(value, trapdoor),
            note: Note::from_parts(owner.address, value, Rseed::BeforeZip212(rcm)),
            ephemeral_key: (base * esk).into(),
        }
    }

    /// The circuit without values.
    pub(crate) fn blank() -> Output {
        Output {
            value_commitment_opening: None,
            payment_address: None,
            commitment_randomness: None,
            esk: None,
        }
    }

    /// The check that a node makes, through bellman's verifier.
    pub(crate) fn accepts(&self, proof: &[u8], key: &OutputParameters) -> bool {
        let proof = Proof::<Bls12>::read(proof).expect("192 bytes of valid points");
        SaplingVerificationContext::new().check_output(
            &self.commitment,
            self.note.cmu(),
            self.ephemeral_key,
            proof,
            &key.prepared_verifying_key(),
        )
    }
}

/// A note that is spent, at a random place of the commitment tree.
pub(crate) struct SpendStatement {
    pub(crate) circuit: Spend,
    owner: Owner,
    note: Note,
    position: u64,
    anchor: bls12_381::Scalar,
    commitment: ValueCommitment,
    rerandomization: JubjubScalar,
}

impl SpendStatement {
    pub(crate) fn new(seed: u64) -> Self {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let owner = Owner::new(&mut rng);
        let value = NoteValue::from_raw(rng.next_u64());
        let rseed = Rseed::BeforeZip212(jubjub_scalar(&mut rng));
        let note = Note::from_parts(owner.address, value, rseed);
        let trapdoor = ValueCommitTrapdoor::random(&mut rng);
        let commitment = ValueCommitment::derive(value, trapdoor.clone());
        let rerandomization = jubjub_scalar(&mut rng);
        let position = u64::from(rng.next_u32());
        let path = merkle_path(&mut rng, position);
        let anchor = path.root(Node::from_cmu(&note.cmu())).into();
        let circuit = SpendParameters::prepare_circuit(
            owner.key.proof_generation_key(),
            owner.diversifier,
            rseed,
            value,
            rerandomization,
            trapdoor,
            anchor,
            path,
        )
        .expect("the address was made with the diversifier");
        Self {
            circuit,
            owner,
            note,
            position,
            anchor,
            commitment,
            rerandomization,
        }
    }

    /// The circuit without values.
    pub(crate) fn blank() -> Spend {
        Spend {
            value_commitment_opening: None,
            proof_generation_key: None,
            payment_address: None,
            commitment_randomness: None,
            ar: None,
            auth_path: vec![None; TREE_DEPTH],
            anchor: None,
        }
    }

    /// The check that a node makes, signature included, through bellman's verifier.
    pub(crate) fn accepts(&self, proof: &[u8], key: &SpendParameters) -> bool {
        let proof = Proof::<Bls12>::read(proof).expect("192 bytes of valid points");
        let viewing_key = self.owner.key.proof_generation_key().to_viewing_key();
        let signing_key = self.owner.key.ask.randomize(&self.rerandomization);
        let signature = signing_key.sign(ChaCha20Rng::seed_from_u64(1), &SIGHASH);
        SaplingVerificationContext::new().check_spend(
            &self.commitment,
            self.anchor,
            &self.note.nf(&viewing_key.nk, self.position).0,
            viewing_key.rk(self.rerandomization),
            &SIGHASH,
            signature,
            proof,
            &key.prepared_verifying_key(),
        )
    }
}

const TREE_DEPTH: usize = sapling_crypto::NOTE_COMMITMENT_TREE_DEPTH as usize;

fn merkle_path(rng: &mut ChaCha20Rng, position: u64) -> MerklePath {
    let siblings = (0..TREE_DEPTH).map(|_| {
        let point = Note::from_parts(
            Owner::new(rng).address,
            NoteValue::from_raw(rng.next_u64()),
            Rseed::BeforeZip212(jubjub_scalar(rng)),
        );
        Node::from_cmu(&point.cmu())
    });
    MerklePath::from_parts(siblings.collect(), position.into()).expect("one sibling per level")
}
