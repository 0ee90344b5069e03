//! What all our constraint systems share: they are their own root and most keep no names.

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

pub(crate) use unnamed_root;
