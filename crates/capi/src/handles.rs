//! The table of handles.
//!
//! A handle contains the number of a slot and the slot's generation. The generation counts how often the slot was
//! freed. Handles are odd, so that no handle is a valid address.

use std::any::Any;
use std::sync::Arc;

use parking_lot::RwLock;

use deadpan_bind::{Code, Fault};

/// The number of bits in a slot's number.
const SLOT: u32 = 24;
/// The largest number of handles at one time.
const MOST: usize = 1 << SLOT;

type HeldObject = Arc<dyn Any + Send + Sync>;

#[derive(Default)]
struct HandleTable {
    slots: Vec<Slot>,
    free: Vec<usize>,
}

#[derive(Default)]
struct Slot {
    generation: usize,
    held: Option<HeldObject>,
}

static TABLE: RwLock<HandleTable> = RwLock::new(HandleTable { slots: Vec::new(), free: Vec::new() });

/// Puts a value into the table. Returns the handle of the value, which is never zero.
pub(crate) fn put<T: Any + Send + Sync>(value: T) -> Result<usize, Fault> {
    let mut table = TABLE.write();
    let number = match table.free.pop() {
        Some(number) => number,
        None if table.slots.len() == MOST => return Err(Fault::new(Code::System, "there are too many handles")),
        None => {
            table.slots.push(Slot::default());
            table.slots.len() - 1
        }
    };
    let slot = &mut table.slots[number];
    slot.held = Some(Arc::new(value));
    Ok((slot.generation << SLOT | number) << 1 | 1)
}

/// Returns the value of a handle.
pub(crate) fn get<T: Any + Send + Sync>(handle: usize) -> Result<Arc<T>, Fault> {
    if handle == 0 {
        return Err(Fault::argument("a handle is NULL"));
    }
    let table = TABLE.read();
    let held = table.slots.get(slot_of(handle)).filter(|slot| is_of(slot, handle)).and_then(|slot| slot.held.clone());
    drop(table);
    held.and_then(|held| held.downcast().ok()).ok_or_else(wrong)
}

/// Frees a handle. The value is dropped only when no other thread uses it. Freeing the handle zero does nothing.
pub(crate) fn free<T: Any + Send + Sync>(handle: usize) -> Result<(), Fault> {
    if handle == 0 {
        return Ok(());
    }
    let mut table = TABLE.write();
    let number = slot_of(handle);
    let slot = table.slots.get_mut(number).filter(|slot| is_of(slot, handle)).ok_or_else(wrong)?;
    if !slot.held.as_ref().is_some_and(|held| held.is::<T>()) {
        return Err(wrong());
    }
    let held = slot.held.take();
    slot.generation += 1;
    // If all generations of a slot are used up, the slot is not used again.
    if slot.generation < usize::MAX >> (SLOT + 1) {
        table.free.push(number);
    }
    drop(table);
    // The value is dropped after the lock is released, because values may have callbacks.
    drop(held);
    Ok(())
}

fn slot_of(handle: usize) -> usize {
    handle >> 1 & (MOST - 1)
}

fn is_of(slot: &Slot, handle: usize) -> bool {
    handle & 1 == 1 && slot.generation == handle >> (SLOT + 1)
}

fn wrong() -> Fault {
    Fault::new(Code::Handle, Code::Handle.message())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_that_were_freed_or_never_were_are_refused() {
        // The table's first handle is 1, so for this handle `one ^ 1` would be NULL. This value takes that handle.
        let first = put(6_u32).expect("room");
        let one = put(7_u32).expect("room");
        assert_eq!(*get::<u32>(one).expect("it is there"), 7);
        let code = |result: Result<(), Fault>| result.err().map(|fault| fault.code);
        for other in [one ^ 1, one + 2, one | 1 << 40, usize::MAX, 2, 4096] {
            assert_eq!(code(get::<u32>(other).map(drop)), Some(Code::Handle), "{other:x}");
            assert_eq!(code(free::<u32>(other)), Some(Code::Handle), "{other:x}");
        }
        assert_eq!(code(get::<u32>(0).map(drop)), Some(Code::Argument));
        assert_eq!(code(get::<u64>(one).map(drop)), Some(Code::Handle), "another kind");
        assert_eq!(code(free::<u64>(one)), Some(Code::Handle), "another kind");
        assert_eq!(code(free::<u32>(one)), None);
        assert_eq!(code(free::<u32>(one)), Some(Code::Handle), "twice");
        let next = put(8_u32).expect("room");
        assert_ne!(next, one);
        assert_eq!(code(get::<u32>(one).map(drop)), Some(Code::Handle), "the slot has another value");
        assert_eq!(code(free::<u32>(0)), None);
        free::<u32>(next).expect("it is there");
        free::<u32>(first).expect("it is there");
    }

    #[test]
    fn a_value_in_use_outlives_its_handle() {
        let handle = put(String::from("face")).expect("room");
        let held = get::<String>(handle).expect("it is there");
        free::<String>(handle).expect("it is there");
        assert_eq!(*held, "face");
    }

    #[test]
    fn threads_share_the_table() {
        std::thread::scope(|scope| {
            for thread in 0..8_usize {
                scope.spawn(move || {
                    for number in 0..1000 {
                        let handle = put((thread, number)).expect("room");
                        assert_eq!(*get::<(usize, i32)>(handle).expect("it is there"), (thread, number));
                        free::<(usize, i32)>(handle).expect("it is there");
                    }
                });
            }
        });
    }
}
