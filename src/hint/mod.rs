//! hint
