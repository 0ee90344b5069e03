//! What our constraint systems share: how they allocate variables, what they ignore, and that they are their own root.
//!
//! A trait cannot give part of another trait's methods, so macros do.

/// The namespace methods of a constraint system that is its own root and keeps no names.
macro_rules! unnamed_root {
    () => {
        fn push_namespace<NR, N>(&mut self, _: N)
        where
            NR: Into<String>,
            N: FnOnce() -> NR,
        {
        }

        fn pop_namespace(&mut self) {}

        fn get_root(&mut self) -> &mut Self::Root {
            self
        }
    };
}

/// Allocation in a constraint system that counts variables and never asks for a value.
macro_rules! counted_variables {
    () => {
        fn alloc<F, A, AR>(&mut self, _: A, _: F) -> Result<Variable, SynthesisError>
        where
            F: FnOnce() -> Result<Fr, SynthesisError>,
            A: FnOnce() -> AR,
            AR: Into<String>,
        {
            self.num_aux += 1;
            self.densities.push_aux();
            Ok(Variable::new_unchecked(Index::Aux(self.num_aux - 1)))
        }

        fn alloc_input<F, A, AR>(&mut self, _: A, _: F) -> Result<Variable, SynthesisError>
        where
            F: FnOnce() -> Result<Fr, SynthesisError>,
            A: FnOnce() -> AR,
            AR: Into<String>,
        {
            self.num_inputs += 1;
            self.densities.push_input();
            Ok(Variable::new_unchecked(Index::Input(self.num_inputs - 1)))
        }
    };
}

/// Allocation in a constraint system that keeps values and nothing else about variables.
macro_rules! valued_variables {
    () => {
        fn alloc<F, A, AR>(&mut self, _: A, value: F) -> Result<Variable, SynthesisError>
        where
            F: FnOnce() -> Result<Fr, SynthesisError>,
            A: FnOnce() -> AR,
            AR: Into<String>,
        {
            Ok(self.witness.push_aux(value()?))
        }

        fn alloc_input<F, A, AR>(&mut self, _: A, value: F) -> Result<Variable, SynthesisError>
        where
            F: FnOnce() -> Result<Fr, SynthesisError>,
            A: FnOnce() -> AR,
            AR: Into<String>,
        {
            Ok(self.witness.push_input(value()?))
        }
    };
}

/// Allocation in a constraint system that leaves variables to the system in one of its fields.
macro_rules! delegated_variables {
    ($field:ident) => {
        fn alloc<F, A, AR>(&mut self, name: A, value: F) -> Result<Variable, SynthesisError>
        where
            F: FnOnce() -> Result<Fr, SynthesisError>,
            A: FnOnce() -> AR,
            AR: Into<String>,
        {
            self.$field.alloc(name, value)
        }

        fn alloc_input<F, A, AR>(&mut self, name: A, value: F) -> Result<Variable, SynthesisError>
        where
            F: FnOnce() -> Result<Fr, SynthesisError>,
            A: FnOnce() -> AR,
            AR: Into<String>,
        {
            self.$field.alloc_input(name, value)
        }
    };
}

/// Constraints in a constraint system that is after the variables alone; their closures are never called.
macro_rules! ignored_rows {
    () => {
        fn enforce<A, AR, LA, LB, LC>(&mut self, _: A, _: LA, _: LB, _: LC)
        where
            A: FnOnce() -> AR,
            AR: Into<String>,
            LA: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
            LB: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
            LC: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
        {
        }
    };
}

pub(crate) use {
    counted_variables, delegated_variables, ignored_rows, unnamed_root, valued_variables,
};
