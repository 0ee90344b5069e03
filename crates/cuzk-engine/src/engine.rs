//! The engine as its embedder sees it.

use std::sync::Arc;
use std::time::Duration;

use cuzk_circuits::CircuitId;
use cuzk_groth16::{CardMemory, ProverDevice};
use tokio::sync::{Semaphore, broadcast};
use tokio::time::Instant;

use crate::admission::{self, Admitted};
use crate::budget::Budget;
use crate::bus::Bus;
use crate::completion::Completion;
use crate::devices::Devices;
use crate::ending;
use crate::error::{DevicesLost, ResidencyError, StartError, SubmitError, UnknownJob};
use crate::events::{BufferClass, Stamped, Step};
use crate::flow;
use crate::folds::Span;
use crate::jobs::{
    CancelReason, Job, JobId, JobRequest, JobStatus, JobSummary, Limits, Registry, Submitted,
};
use crate::order::{Priority, Rank};
use crate::ports::{CircuitSource, Executor, FilecoinCircuits, KeySource, ThreadExecutor};
use crate::queue::OrderedQueue;
use crate::residency::{self, Asking, Residency};
use crate::settings::{AbandonedJobs, Derived, EngineSettings, MemoryLimit, memory_limit};
use crate::shared::{Core, Mistakes};
use crate::snapshot::{BufferStatus, Snapshot, Tier};
use crate::status;
use crate::steps::Steps;
use crate::sync::{Mutex, lock};
use crate::workers;

/// What an engine is made of, beside its settings.
pub struct EngineParts {
    /// What proves; at least one.
    pub devices: Vec<Arc<dyn ProverDevice>>,
    /// Where keys come from.
    pub keys: Arc<dyn KeySource>,
    /// What decodes requests and knows circuits.
    pub circuits: Arc<dyn CircuitSource>,
    /// Where steps run; `None` is threads of this process.
    pub executor: Option<Arc<dyn Executor>>,
    /// How much memory there is; `None` asks the system.
    pub memory: Option<MemoryLimit>,
    /// Mistakes to repeat; none in earnest.
    #[doc(hidden)]
    pub mistakes: Mistakes,
}

impl EngineParts {
    /// Filecoin's circuits, compiled when they are loaded, on threads of this process.
    pub fn new(devices: Vec<Arc<dyn ProverDevice>>, keys: Arc<dyn KeySource>) -> Self {
        Self {
            devices,
            keys,
            circuits: Arc::new(FilecoinCircuits::default()),
            executor: None,
            memory: None,
            mistakes: Mistakes::default(),
        }
    }
}

/// A running engine; cheap to clone.
#[derive(Clone)]
pub struct Engine {
    handle: Arc<Handle>,
}

/// Ends the workers when the last engine of the embedder is dropped.
struct Handle {
    core: Arc<Core>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.core.close();
    }
}

/// A circuit that was asked to be resident.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preloaded {
    /// Whether it was before.
    pub already_loaded: bool,
    /// How long loading took.
    pub took: Duration,
}

/// A client that waits for a job; dropped when it goes away.
///
/// The last one to go cancels the job where [`AbandonedJobs::Cancel`] is set.
pub struct Attendance {
    core: Arc<Core>,
    job: Arc<Job>,
}

impl Drop for Attendance {
    fn drop(&mut self) {
        let is_last = self.job.leave();
        if is_last && self.core.settings.abandoned == AbandonedJobs::Cancel {
            ending::cancel(&self.core, &self.job, CancelReason::Abandoned);
        }
    }
}

impl Engine {
    /// Starts an engine on the current tokio runtime.
    ///
    /// # Errors
    /// [`StartError`] when a setting is refused, there is no device, or no runtime.
    pub fn start(settings: EngineSettings, parts: EngineParts) -> Result<Self, StartError> {
        let own_bytes = parts.devices.iter().map(|device| device.own_bytes()).sum();
        let limit = parts.memory.or_else(memory_limit);
        let derived = settings.derive(limit.as_ref(), own_bytes)?;
        let runtime = tokio::runtime::Handle::try_current().map_err(|_| StartError::NoRuntime)?;
        if parts.devices.is_empty() {
            return Err(StartError::NoDevice);
        }
        let bus = Bus::new();
        let executor = parts
            .executor
            .clone()
            .unwrap_or_else(|| Arc::new(ThreadExecutor::new(runtime)));
        let core = Arc::new(new_core(settings, derived, parts, executor, bus));
        workers::start(&core);
        Ok(Self {
            handle: Arc::new(Handle { core }),
        })
    }

    fn core(&self) -> &Arc<Core> {
        &self.handle.core
    }

    /// Decodes a request and admits it as a job, or joins the job that the same request made before.
    ///
    /// # Errors
    /// [`SubmitError`] with its class; nothing is kept of a request that is refused.
    pub async fn submit(&self, request: JobRequest) -> Result<Submitted, SubmitError> {
        let (job, joined) = match admission::admit(self.core(), request).await? {
            Admitted::New(job) => {
                flow::enqueue(self.core(), &job);
                if job.deadline.is_some() {
                    let core = Arc::downgrade(self.core());
                    tokio::spawn(workers::expire(core, Arc::clone(&job)));
                }
                (job, false)
            }
            Admitted::Joined(job) => (job, true),
        };
        let unfinished = self.core().registry.unfinished();
        let ahead = unfinished.iter().filter(|other| other.rank < job.rank);
        Ok(Submitted {
            job: job.id,
            queue_position: ahead.count(),
            joined,
            device: (self.core().devices.len() == 1).then_some(0),
        })
    }

    /// Waits for a job's end, at most for `timeout`; `None` waits for ever.
    ///
    /// # Errors
    /// [`UnknownJob`] when there is no such job or its result is no longer kept.
    pub async fn wait(
        &self,
        job: JobId,
        timeout: Option<Duration>,
    ) -> Result<JobStatus, UnknownJob> {
        let job = self.job(job)?;
        let Some(timeout) = timeout else {
            return Ok(JobStatus::Ended(job.outcome.wait().await));
        };
        match tokio::time::timeout(timeout, job.outcome.wait()).await {
            Ok(outcome) => Ok(JobStatus::Ended(outcome)),
            Err(_) => Ok(job.status()),
        }
    }

    /// Counts a client that waits for a job, for as long as the returned value lives.
    ///
    /// # Errors
    /// [`UnknownJob`].
    pub fn attend(&self, job: JobId) -> Result<Attendance, UnknownJob> {
        let job = self.job(job)?;
        job.attend();
        Ok(Attendance {
            core: Arc::clone(self.core()),
            job,
        })
    }

    /// Cancels a job; says whether it was running.
    ///
    /// # Errors
    /// [`UnknownJob`].
    pub fn cancel(&self, job: JobId) -> Result<bool, UnknownJob> {
        let job = self.job(job)?;
        Ok(ending::cancel(self.core(), &job, CancelReason::Requested))
    }

    /// What is known about a job.
    ///
    /// # Errors
    /// [`UnknownJob`].
    pub fn status(&self, job: JobId) -> Result<JobStatus, UnknownJob> {
        Ok(self.job(job)?.status())
    }

    /// All jobs that are unfinished or kept, the oldest first.
    pub fn jobs(&self) -> Vec<JobSummary> {
        let jobs = self.core().registry.all();
        jobs.iter().map(|job| job.summary()).collect()
    }

    /// Receives all events from now on. A receiver that is too slow loses the oldest ones and is told.
    pub fn subscribe(&self) -> broadcast::Receiver<Stamped> {
        self.core().bus.listen()
    }

    /// Steps that are over, the oldest first, as far back as they are remembered.
    pub fn timeline(&self) -> Vec<Span> {
        self.core()
            .bus
            .view(|folds| folds.timeline.iter().copied().collect())
    }

    /// Makes a circuit and its key resident.
    ///
    /// # Errors
    /// [`ResidencyError`] when key or circuit cannot be loaded or are larger than the budget.
    pub async fn preload(&self, circuit: CircuitId) -> Result<Preloaded, ResidencyError> {
        let core = self.core();
        let began = Instant::now();
        let already_loaded = core.residency.view(circuit).tier != Tier::Cold;
        let asking = Asking {
            circuit,
            rank: Rank::of_job(Priority::High, None, 0, 0),
            step: Step::load(circuit, None),
        };
        residency::preload(core, asking).await?;
        Ok(Preloaded {
            already_loaded,
            took: began.elapsed(),
        })
    }

    /// Gives up a circuit and its key; the bytes of the budget that this frees, or `None` where it was not resident.
    ///
    /// # Errors
    /// [`ResidencyError::InUse`] while partitions in flight use it.
    pub fn evict(&self, circuit: CircuitId) -> Result<Option<u64>, ResidencyError> {
        let core = self.core();
        let resident = core.residency.take(circuit)?;
        Ok(resident.map(|resident| residency::evicted(core, circuit, resident)))
    }

    /// Waits until no device is left that works, for ever where that does not happen. The engine takes no work then, and jobs
    /// that were unfinished are cancelled for [`CancelReason::DevicesLost`]; in a new process the devices may work again.
    pub async fn lost(&self) -> DevicesLost {
        self.core().lost.wait().await
    }

    /// Waits until nothing is in flight, what was cancelled included.
    pub async fn idle(&self) {
        self.core().presence.none().await;
    }

    /// Takes no new work and waits until all jobs ended, at most until `deadline`; then cancels what is left. Returns how
    /// many jobs were cancelled.
    pub async fn drain(&self, deadline: Instant) -> usize {
        *lock(&self.core().draining) = true;
        let unfinished = self.core().registry.unfinished();
        for job in &unfinished {
            if tokio::time::timeout_at(deadline, job.outcome.wait())
                .await
                .is_err()
            {
                break;
            }
        }
        let core = self.core();
        let left = unfinished
            .iter()
            .filter(|job| ending::cancel(core, job, CancelReason::Shutdown));
        let num_cancelled = left.count();
        // Work that cannot be interrupted may outlast the deadline; it owns what it uses.
        drop(tokio::time::timeout_at(deadline, self.idle()).await);
        num_cancelled
    }

    /// Cancels all jobs and ends the workers.
    pub async fn shutdown(&self) {
        self.drain(Instant::now()).await;
        self.core().close();
    }

    /// Large buffers of one class at this moment.
    pub fn buffers(&self, class: BufferClass) -> BufferStatus {
        self.core()
            .bus
            .view(|folds| folds.buffers.get(&class).copied().unwrap_or_default())
    }

    /// Memory of the cards at this moment, in the order of the devices; none where a device is no card. Asks their drivers,
    /// which may take their time, so it is no part of a snapshot.
    pub fn card_memory(&self) -> Vec<Option<CardMemory>> {
        let devices = self.core().devices.iter();
        devices.map(|device| device.card_memory()).collect()
    }

    /// The state at this moment.
    pub fn snapshot(&self) -> Snapshot {
        status::snapshot(self.core())
    }

    fn job(&self, id: JobId) -> Result<Arc<Job>, UnknownJob> {
        self.core().registry.get(id).ok_or(UnknownJob(id))
    }
}

fn new_core(
    settings: EngineSettings,
    derived: Derived,
    parts: EngineParts,
    executor: Arc<dyn Executor>,
    bus: Arc<Bus>,
) -> Core {
    let limits = Limits {
        max_jobs: settings.max_queued_jobs,
        max_bytes: derived.max_queued_bytes,
        retention: settings.result_retention,
        max_result_bytes: settings.max_result_bytes,
        fair_tenants: settings.fair_tenants,
    };
    let capacity = parts.mistakes.ready_capacity;
    Core {
        derived,
        mistakes: parts.mistakes,
        devices: Devices::new(parts.devices, Arc::clone(&bus)),
        keys: parts.keys,
        circuits: parts.circuits,
        steps: Steps {
            bus: Arc::clone(&bus),
            executor,
        },
        registry: Registry::new(limits, Arc::clone(&bus)),
        budget: Budget::new(derived.partition_bytes),
        residency: Residency::default(),
        waiting: OrderedQueue::new(usize::MAX),
        ready: OrderedQueue::new(capacity.unwrap_or(derived.ready_capacity)),
        tail: OrderedQueue::new(usize::MAX),
        decoders: Semaphore::new(settings.cpu_tail_threads),
        presence: Arc::default(),
        draining: Mutex::new(false),
        lost: Completion::new(),
        bus,
        settings,
    }
}
