//! A transform of up to 2^28 elements has to cross device memory few times, yet a pass can only join the elements that
//! one block holds. The plan splits a transform's stages into passes.

/// Logarithm of the largest transform.
pub const MAX_LOG_SIZE: u32 = 28;

/// Stages that a block can take in one pass: 2^9 elements in each of four columns.
const MAX_PASS_BITS: u32 = 9;
/// A thread holds eight elements, so a pass has at least three stages.
const MIN_PASS_BITS: u32 = 3;
/// Logarithm of the elements that a block holds.
const LOG_BLOCK_ELEMENTS: u32 = 11;
/// Logarithm of the twiddles kept for every stage. Larger transforms multiply two tables in their last pass.
const MAX_LOG_HEAP: u32 = 20;

/// Stages `shift + 1 ..= shift + bits` of a transform.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pass {
    /// Stages before this pass.
    pub shift: u32,
    /// Stages of this pass.
    pub bits: u32,
    /// Whether all twiddles of the pass are in the heap.
    pub direct: bool,
}

impl Pass {
    /// Columns (elements at distance 2^shift) that one block works on, in a transform of 2^`log_size` elements.
    pub fn log_columns(self, log_size: u32) -> u32 {
        LOG_BLOCK_ELEMENTS.min(log_size) - self.bits
    }

    /// Elements and twiddles that a block keeps in shared memory: columns are padded by one element in eight, and
    /// twiddles of all but the last three stages are kept when they are products.
    pub fn shared_elements(self, log_size: u32) -> usize {
        let padded = (1_usize << self.bits) + (1 << (self.bits - MIN_PASS_BITS));
        let twiddles = if self.direct {
            0
        } else {
            1 << (MIN_PASS_BITS * (self.bits.div_ceil(MIN_PASS_BITS) - 1))
        };
        (padded + twiddles) << self.log_columns(log_size)
    }
}

/// How a transform of 2^`log_size` elements is cut into passes and tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NttPlan {
    log_size: u32,
    passes: Vec<Pass>,
}

impl NttPlan {
    /// The plan for 2^`log_size` elements, or `None` above [`MAX_LOG_SIZE`]. Transforms of at most four elements have
    /// no passes.
    pub fn new(log_size: u32) -> Option<Self> {
        if log_size > MAX_LOG_SIZE {
            return None;
        }
        let mut passes = Vec::new();
        if log_size >= MIN_PASS_BITS {
            // From the last pass down: threads work through three stages at a time, so passes are multiples of three
            // where the passes before keep their minimum; the first pass takes what is left.
            let count = log_size.div_ceil(MAX_PASS_BITS);
            let mut shift = log_size;
            for before in (0..count).rev() {
                let most = (shift - before * MIN_PASS_BITS).min(MAX_PASS_BITS);
                let bits = if before == 0 {
                    shift
                } else {
                    most - most % MIN_PASS_BITS
                };
                shift -= bits;
                passes.push(Pass {
                    shift,
                    bits,
                    direct: true,
                });
            }
            passes.reverse();
        }
        if let Some(last) = passes.last_mut() {
            last.direct = log_size <= MAX_LOG_HEAP;
        }
        Some(Self { log_size, passes })
    }

    /// Logarithm of the number of elements.
    pub fn log_size(&self) -> u32 {
        self.log_size
    }

    /// Passes by rising stages.
    pub fn passes(&self) -> &[Pass] {
        &self.passes
    }

    /// Logarithm of the length of the heap of twiddles: stage s lies at 2^(s-1).
    pub fn log_heap(&self) -> u32 {
        self.product_pass().map_or(self.log_size, |pass| pass.shift)
    }

    /// The pass whose twiddles are products of two tables, if any. The tables have 2^shift entries per stage, and
    /// 2^bits entries.
    pub fn product_pass(&self) -> Option<Pass> {
        self.passes.last().copied().filter(|pass| !pass.direct)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(log_size: u32) -> NttPlan {
        NttPlan::new(log_size).expect("the size is supported")
    }

    #[test]
    fn a_transform_beyond_the_largest_is_refused() {
        assert_eq!(NttPlan::new(MAX_LOG_SIZE + 1), None);
    }

    #[test]
    fn up_to_four_elements_need_no_pass() {
        for log_size in 0..MIN_PASS_BITS {
            assert!(plan(log_size).passes().is_empty());
        }
    }

    #[test]
    fn passes_cover_every_stage_once_and_fit_a_block() {
        for log_size in MIN_PASS_BITS..=MAX_LOG_SIZE {
            let plan = plan(log_size);
            let mut stage = 0;
            for pass in plan.passes() {
                assert_eq!(pass.shift, stage);
                assert!(
                    (MIN_PASS_BITS..=MAX_PASS_BITS).contains(&pass.bits),
                    "2^{log_size}"
                );
                assert!(pass.bits + pass.log_columns(log_size) <= LOG_BLOCK_ELEMENTS);
                stage += pass.bits;
            }
            assert_eq!(stage, log_size);
        }
    }

    #[test]
    fn blocks_fit_the_shared_memory_of_every_card() {
        const SMALLEST: usize = 99 * 1024;
        for log_size in MIN_PASS_BITS..=MAX_LOG_SIZE {
            for pass in plan(log_size).passes() {
                assert!(
                    32 * pass.shared_elements(log_size) <= SMALLEST,
                    "2^{log_size}: {pass:?}"
                );
            }
        }
    }

    #[test]
    fn direct_passes_find_their_twiddles_in_the_heap() {
        for log_size in 0..=MAX_LOG_SIZE {
            let plan = plan(log_size);
            for pass in plan.passes().iter().filter(|pass| pass.direct) {
                assert!(pass.shift + pass.bits <= plan.log_heap(), "2^{log_size}");
            }
            assert!(plan.log_heap() <= MAX_LOG_HEAP.max(21), "2^{log_size}");
        }
    }

    #[test]
    fn passes_are_as_few_as_can_be_and_threads_rarely_idle() {
        for log_size in MIN_PASS_BITS..=MAX_LOG_SIZE {
            let plan = plan(log_size);
            assert_eq!(plan.passes().len() as u32, log_size.div_ceil(MAX_PASS_BITS));
            let windows: u32 = plan
                .passes()
                .iter()
                .map(|pass| pass.bits.div_ceil(MIN_PASS_BITS))
                .sum();
            assert_eq!(windows, log_size.div_ceil(MIN_PASS_BITS), "2^{log_size}");
        }
    }
}
