//! The engines against a naive model: ranks in one thread, a file in memory, random cases.

mod case;
mod disk;
mod individual;
mod ranks;
