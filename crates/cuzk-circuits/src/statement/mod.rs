//! What is proved, with everything that the proof is made from.
//!
//! A statement is decoded once and shared by the tasks of all its partitions, which run at
//! different times on different threads. Cloning it clones a pointer; a partition's circuit
//! copies that partition's values only, as upstream's constructors demand.

mod compound;
mod porep;
mod post;
mod update;

use std::sync::Arc;

use blstrs::Scalar as Fr;

pub(crate) use porep::PoRepStatement;
pub(crate) use post::{OpenedSector, PoStStatement};
pub(crate) use update::UpdateStatement;

use crate::circuit::{CircuitError, CircuitVisitor};
use crate::id::CircuitId;
use crate::shape::{BaseTree, SectorTree, SubTree, TopTree};
use crate::witness::{BlockKinds, EmitError, Values};

/// A decoded request: public inputs and a circuit for each partition.
#[derive(Clone)]
pub struct Statement {
    circuit_id: CircuitId,
    body: Arc<AnyBody>,
}

/// A statement about sectors of any shape.
pub(crate) enum AnyBody {
    Base(Body<BaseTree>),
    Sub(Body<SubTree>),
    Top(Body<TopTree>),
}

/// A statement about sectors of one shape.
pub(crate) enum Body<Tree: SectorTree> {
    PoRep(PoRepStatement<Tree>),
    Update(UpdateStatement<Tree>),
    PoSt(PoStStatement<Tree>),
}

/// What every kind of statement can do. Partitions are in range.
trait Parts {
    fn num_partitions(&self) -> usize;

    fn public_inputs(&self, partition: usize) -> Result<Vec<Fr>, UpstreamError>;

    fn visit<V: CircuitVisitor>(
        &self,
        partition: usize,
        visitor: V,
    ) -> Result<V::Output, UpstreamError>;

    /// Values of the variables of a partition, in the order of `kinds`.
    fn emit(&self, partition: usize, kinds: &BlockKinds) -> Result<Values, EmitError>;

    /// The first place where the vanilla proof of a partition is wrong.
    fn first_fault(&self, partition: usize) -> Result<Option<Fault>, UpstreamError>;
}

/// Forgets the shape.
pub(crate) trait Erase: SectorTree + Sized {
    fn erase(body: Body<Self>) -> AnyBody;
}

impl Erase for BaseTree {
    fn erase(body: Body<Self>) -> AnyBody {
        AnyBody::Base(body)
    }
}

impl Erase for SubTree {
    fn erase(body: Body<Self>) -> AnyBody {
        AnyBody::Sub(body)
    }
}

impl Erase for TopTree {
    fn erase(body: Body<Self>) -> AnyBody {
        AnyBody::Top(body)
    }
}

macro_rules! with_body {
    ($any:expr, $body:ident => $call:expr) => {
        match $any {
            AnyBody::Base(Body::PoRep($body)) => $call,
            AnyBody::Base(Body::Update($body)) => $call,
            AnyBody::Base(Body::PoSt($body)) => $call,
            AnyBody::Sub(Body::PoRep($body)) => $call,
            AnyBody::Sub(Body::Update($body)) => $call,
            AnyBody::Sub(Body::PoSt($body)) => $call,
            AnyBody::Top(Body::PoRep($body)) => $call,
            AnyBody::Top(Body::Update($body)) => $call,
            AnyBody::Top(Body::PoSt($body)) => $call,
        }
    };
}

impl Statement {
    pub(crate) fn new(circuit_id: CircuitId, body: AnyBody) -> Self {
        Self {
            circuit_id,
            body: Arc::new(body),
        }
    }

    /// The circuit that every partition uses.
    pub fn circuit_id(&self) -> CircuitId {
        self.circuit_id
    }

    /// Number of partitions, hence of 192-byte proofs.
    pub fn num_partitions(&self) -> usize {
        with_body!(&*self.body, body => body.num_partitions())
    }

    /// Public inputs of a partition, without the constant ONE.
    ///
    /// # Errors
    /// When there is no such partition.
    pub fn public_inputs(&self, partition: usize) -> Result<Vec<Fr>, CircuitError> {
        self.expect_partition(partition)?;
        with_body!(&*self.body, body => body.public_inputs(partition))
            .map_err(|source| self.upstream(partition, source))
    }

    /// Calls `visitor` with the circuit of a partition, values included.
    ///
    /// # Errors
    /// When there is no such partition.
    pub fn with_circuit<V: CircuitVisitor>(
        &self,
        partition: usize,
        visitor: V,
    ) -> Result<V::Output, CircuitError> {
        self.expect_partition(partition)?;
        with_body!(&*self.body, body => body.visit(partition, visitor))
            .map_err(|source| self.upstream(partition, source))
    }

    /// Emits the variables of a partition, which there is.
    pub(crate) fn emit(&self, partition: usize, kinds: &BlockKinds) -> Result<Values, EmitError> {
        with_body!(&*self.body, body => body.emit(partition, kinds))
    }

    /// Verifies all vanilla proofs: every label, every encoding and every hash along a path.
    ///
    /// Upstream's verifiers do it, plus the paths that they take on trust. Costs seconds of all
    /// cores for a sector of 32 GiB, against minutes of proving in vain.
    ///
    /// # Errors
    /// With the partition and the challenge or sector where the vanilla proof is wrong.
    pub fn check_vanilla(&self) -> Result<(), CircuitError> {
        (0..self.num_partitions()).try_for_each(|partition| self.check_vanilla_partition(partition))
    }

    /// Verifies the vanilla proof of one partition, as [`Statement::check_vanilla`] does.
    ///
    /// # Errors
    /// When there is no such partition, or with the challenge or sector where it is wrong.
    pub fn check_vanilla_partition(&self, partition: usize) -> Result<(), CircuitError> {
        self.expect_partition(partition)?;
        let fault = with_body!(&*self.body, body => body.first_fault(partition))
            .map_err(|source| self.upstream(partition, source))?;
        match fault {
            None => Ok(()),
            Some(Fault { what, index }) => Err(CircuitError::VanillaProof {
                circuit: self.circuit_id,
                partition,
                what,
                index,
            }),
        }
    }

    fn expect_partition(&self, partition: usize) -> Result<(), CircuitError> {
        let num_partitions = self.num_partitions();
        if partition < num_partitions {
            return Ok(());
        }
        Err(CircuitError::NoSuchPartition {
            circuit: self.circuit_id,
            partition,
            num_partitions,
        })
    }

    fn upstream(&self, partition: usize, source: UpstreamError) -> CircuitError {
        CircuitError::Upstream {
            circuit: self.circuit_id,
            partition,
            source,
        }
    }
}

impl std::fmt::Debug for Statement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Statement")
            .field("circuit_id", &self.circuit_id)
            .field("num_partitions", &self.num_partitions())
            .finish_non_exhaustive()
    }
}

/// Upstream's errors, without their type.
pub(crate) type UpstreamError = Box<dyn std::error::Error + Send + Sync>;

/// Where a vanilla proof is wrong.
struct Fault {
    what: &'static str,
    index: u64,
}
