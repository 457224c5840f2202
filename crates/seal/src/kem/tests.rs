//! What keys and encapsulations must and must not do.
