//! The load itself: so many proofs, so many of them at the same time, each timed from its request to its answer.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::Context as _;
use bytes::Bytes;
use cuzk_circuits::{CircuitId, ProofRequest};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::target::Target;
use crate::progress::Step;

/// Time between two looks at the resident memory.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(20);

/// What is asked for.
pub(super) struct Traffic {
    /// The circuit of each proof, in order.
    pub(super) schedule: Vec<CircuitId>,
    /// A request for each circuit. No two jobs share an id, so that each is proved.
    pub(super) requests: BTreeMap<CircuitId, ProofRequest>,
    /// Proofs at the same time.
    pub(super) num_jobs: usize,
}

/// One proof that was asked for.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    pub(super) circuit: CircuitId,
    /// Since the load began.
    pub(super) asked: Duration,
    /// Until the answer.
    pub(super) latency: Duration,
    /// The proof, or the words that came instead.
    pub(super) proof: Result<Bytes, String>,
}

/// Resident memory at one moment since the load began.
pub(super) type MemorySample = (Duration, u64);

/// What came of a load.
pub(super) struct Answered {
    /// In the order of the schedule.
    pub(super) answers: Vec<Answer>,
    /// From the first request to the last answer.
    pub(super) wall: Duration,
    /// Resident memory meanwhile.
    pub(super) memory: Vec<MemorySample>,
}

impl Traffic {
    /// Asks for everything, and waits until everything is answered.
    ///
    /// # Errors
    /// Internal, when a client panicked.
    pub(super) async fn run(
        self: Arc<Self>,
        target: &Target,
        step: Step,
    ) -> anyhow::Result<Answered> {
        let began = Instant::now();
        let over = CancellationToken::new();
        let sampler = tokio::spawn(sample_memory(target.clone(), began, over.clone()));
        let counter = Arc::new(Counter {
            next: AtomicUsize::new(0),
            done: AtomicUsize::new(0),
            step,
        });
        let mut clients = JoinSet::new();
        for _ in 0..self.num_jobs {
            let (traffic, counter) = (Arc::clone(&self), Arc::clone(&counter));
            clients.spawn(ask(traffic, target.clone(), counter, began));
        }
        let mut answers = Vec::with_capacity(self.schedule.len());
        while let Some(part) = clients.join_next().await {
            answers.extend(part.context("a client of the load")?);
        }
        let wall = began.elapsed();
        over.cancel();
        answers.sort_by_key(|(index, _)| *index);
        Ok(Answered {
            answers: answers.into_iter().map(|(_, answer)| answer).collect(),
            wall,
            memory: sampler.await.context("the memory sampler")?,
        })
    }
}

/// How far the schedule is.
struct Counter {
    next: AtomicUsize,
    done: AtomicUsize,
    step: Step,
}

/// One client: asks for the next proof of the schedule when it has an answer to the last one.
async fn ask(
    traffic: Arc<Traffic>,
    target: Target,
    counter: Arc<Counter>,
    began: Instant,
) -> Vec<(usize, Answer)> {
    let mut answers = Vec::new();
    loop {
        let index = counter.next.fetch_add(1, Ordering::Relaxed);
        let Some(&circuit) = traffic.schedule.get(index) else {
            return answers;
        };
        let request = traffic.requests[&circuit].clone();
        let asked = began.elapsed();
        let proof = target.prove(request).await;
        let answer = Answer {
            circuit,
            asked,
            latency: began.elapsed().saturating_sub(asked),
            proof,
        };
        answers.push((index, answer));
        let done = counter.done.fetch_add(1, Ordering::Relaxed) + 1;
        counter.step.set(done as u64, traffic.schedule.len() as u64);
    }
}

/// Looks at the resident memory again and again.
async fn sample_memory(
    target: Target,
    began: Instant,
    over: CancellationToken,
) -> Vec<MemorySample> {
    let mut samples = Vec::new();
    let mut tick = tokio::time::interval(SAMPLE_INTERVAL);
    loop {
        tokio::select! {
            () = over.cancelled() => return samples,
            _ = tick.tick() => {}
        }
        if let Some(bytes) = target.resident_bytes().await {
            samples.push((began.elapsed(), bytes));
        }
    }
}
