//! Jobs that several threads do, and whose results come in the order of the jobs.

use std::collections::VecDeque;
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle, available_parallelism};
use std::time::Duration;

/// The most threads that one pool starts.
const MOST: usize = 16;

/// The most memory for the threads of one pool. One job more than there are threads may wait, too.
const MEMORY: usize = 180 << 20;

/// How long to wait for a result before looking whether the threads still run.
const PATIENCE: Duration = Duration::from_secs(1);

/// Something that does jobs on one thread.
pub(crate) trait Worker: Send + 'static {
    type Job: Send + 'static;
    type Done: Send + 'static;

    fn work(&mut self, job: Self::Job) -> io::Result<Self::Done>;
}

/// A job, and the place for its result.
type Assignment<W> = (<W as Worker>::Job, SyncSender<io::Result<<W as Worker>::Done>>);

pub(crate) struct Pool<W: Worker> {
    /// Makes the worker of a new thread.
    hire: Box<dyn Fn() -> io::Result<W> + Send>,
    threads: usize,
    /// Does the jobs if there is only one thread.
    own: Option<W>,
    jobs: Option<Sender<Assignment<W>>>,
    queue: Arc<Mutex<Receiver<Assignment<W>>>>,
    running: Vec<JoinHandle<()>>,
    waiting: VecDeque<Receiver<io::Result<W::Done>>>,
}

impl<W: Worker> Pool<W> {
    /// Plans a pool with this number of threads, or with a thread for each core if the number is 0. There are fewer
    /// threads if they would take too much memory: `memory` is what a thread and its job take. The pool starts a
    /// thread only when there is a job for it.
    pub(crate) fn new(threads: usize, memory: usize, hire: impl Fn() -> io::Result<W> + Send + 'static) -> Self {
        let threads = if threads == 0 { available_parallelism().map_or(1, usize::from) } else { threads };
        let (jobs, queue) = channel();
        Self {
            hire: Box::new(hire),
            threads: threads.min(MOST).min(MEMORY / memory),
            own: None,
            jobs: Some(jobs),
            queue: Arc::new(Mutex::new(queue)),
            running: Vec::new(),
            waiting: VecDeque::new(),
        }
    }

    /// Returns whether the pool should get another job before a result is taken.
    pub(crate) fn is_hungry(&self) -> bool {
        self.waiting.len() < if self.threads == 1 { 1 } else { self.threads + 1 }
    }

    /// Adds a job. Does the job at once on this thread if `alone` is true, or if the pool has only one thread.
    pub(crate) fn add(&mut self, job: W::Job, alone: bool) -> io::Result<()> {
        let (result, waiting) = sync_channel(1);
        let is_alone = alone || self.threads == 1;
        if !is_alone && self.running.len() < self.threads && self.running.len() <= self.waiting.len() {
            // If the system refuses a thread, the other threads, or this thread, do the work.
            if let Ok(thread) = self.start()? {
                self.running.push(thread);
            }
        }
        match &self.jobs {
            Some(jobs) if !is_alone && !self.running.is_empty() => {
                jobs.send((job, result)).map_err(|_| io::Error::other("a thread ended"))?;
            }
            _ => {
                let worker = match &mut self.own {
                    Some(worker) => worker,
                    none => none.insert((self.hire)()?),
                };
                let _ = result.send(worker.work(job));
            }
        }
        self.waiting.push_back(waiting);
        Ok(())
    }

    fn start(&self) -> io::Result<io::Result<JoinHandle<()>>> {
        let (mut worker, queue) = ((self.hire)()?, Arc::clone(&self.queue));
        Ok(Builder::new().spawn(move || {
            loop {
                let next = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
                let Ok((job, result)) = next else { return };
                // If nobody waits for the result any more, the pool was dropped.
                let _ = result.send(worker.work(job));
            }
        }))
    }

    /// Returns the result of the oldest job, or `None` if no job is left.
    pub(crate) fn next(&mut self) -> Option<io::Result<W::Done>> {
        let result = self.waiting.pop_front()?;
        loop {
            match result.recv_timeout(PATIENCE) {
                Ok(done) => return Some(done),
                // A thread that panics leaves jobs in the queue. Other threads may still do them.
                Err(RecvTimeoutError::Timeout) if !self.running.iter().all(JoinHandle::is_finished) => {}
                Err(_) => return Some(Err(io::Error::other("a thread ended"))),
            }
        }
    }
}

impl<W: Worker> Drop for Pool<W> {
    /// Waits until the threads have ended, so that no thread holds data after the pool.
    fn drop(&mut self) {
        self.jobs = None;
        // Jobs that no thread has begun are dropped here.
        while self.queue.lock().unwrap_or_else(PoisonError::into_inner).try_recv().is_ok() {}
        for thread in self.running.drain(..) {
            let _ = thread.join();
        }
    }
}
