//! The foreign interface's edge: what needs `unsafe`.
