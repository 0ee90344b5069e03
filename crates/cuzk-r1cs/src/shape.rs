//! How large a constraint system is, and the evaluation domain that follows from it.

/// Counts of variables and constraints of one circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Public variables, the constant ONE at index 0 included.
    pub num_inputs: usize,
    /// Private variables.
    pub num_aux: usize,
    /// Constraints that the circuit itself enforces; input rows are not counted.
    pub num_constraints: usize,
}

impl Shape {
    /// Rows of the quadratic arithmetic program: the constraints followed by one row
    /// `x_i * 0 = 0` per input, which makes the inputs linearly independent in A
    /// (Groth16, and every bellman-style prover).
    pub fn num_rows(&self) -> usize {
        self.num_constraints + self.num_inputs
    }

    /// Base-two logarithm of the smallest power of two that holds every row.
    pub fn log_domain(&self) -> u32 {
        self.num_rows().next_power_of_two().trailing_zeros()
    }

    /// Number of points of the evaluation domain, `2^log_domain`.
    pub fn domain_size(&self) -> usize {
        1 << self.log_domain()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_domain_is_the_smallest_power_of_two_that_holds_all_rows() {
        for (constraints, inputs, log_domain) in [
            (0, 1, 0),
            (1, 1, 1),
            (2, 1, 2),
            (3, 1, 2),
            (4, 1, 3),
            (2_687_921, 40, 22),
        ] {
            let shape = Shape {
                num_inputs: inputs,
                num_aux: 0,
                num_constraints: constraints,
            };
            assert_eq!(shape.log_domain(), log_domain, "{shape:?}");
            assert!(shape.domain_size() >= shape.num_rows());
        }
    }
}
