//! Threads with their own connections. A response on a shared connection first wakes the thread that reads the socket.
//! That thread then wakes the thread that sent the request. For short objects, these two thread switches take a fifth
//! of the processor time.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use object_store::client::HttpClient;
use tokio::runtime::{Builder, Handle, Runtime, RuntimeFlavor};
use tokio::task::yield_now;

use crate::patience::Patience;
use crate::wire::client;

thread_local! {
    /// Whether this thread is inside a call of [`with_own_connections`].
    static WANTED: Cell<bool> = const { Cell::new(false) };
    static OWN: RefCell<Option<Rc<Own>>> = const { RefCell::new(None) };
}

pub(crate) struct Own {
    client: HttpClient,
    runtime: Runtime,
}

impl Own {
    /// Returns this thread's runtime and client inside of [`with_own_connections`]. The first call makes the runtime
    /// and the client. If no runtime or client can be made, the thread uses the connections that all threads share.
    pub(crate) fn find() -> Option<Rc<Self>> {
        if !WANTED.get() {
            return None;
        }
        OWN.with_borrow_mut(|own| {
            if own.is_none() {
                *own = Self::new().map(Rc::new);
                WANTED.set(own.is_some());
            }
            own.clone()
        })
    }

    fn new() -> Option<Self> {
        Some(Self {
            client: client(&Patience::default()).ok()?,
            runtime: Builder::new_current_thread().enable_all().build().ok()?,
        })
    }

    /// Returns the thread's client to a request that runs in [`Own::wait`]. Requests on the shared runtime get `None`,
    /// because a thread's own connections make progress only while the thread waits.
    pub(crate) fn client() -> Option<HttpClient> {
        let waits = Handle::current().runtime_flavor() == RuntimeFlavor::CurrentThread;
        OWN.with_borrow(|own| own.as_ref().filter(|_| waits).map(|own| own.client.clone()))
    }

    pub(crate) fn wait<T>(&self, answer: impl Future<Output = T>) -> T {
        self.runtime.block_on(async {
            // The store may have closed a connection since the last request. The first yield polls the sockets. The
            // second call of `yield_now` lets the connection's task read the end of the stream, so that the pool drops
            // the connection.
            yield_now().await;
            yield_now().await;
            answer.await
        })
    }
}

/// Calls `work`. During the call, requests of this thread to stores use the thread's own connections. A thread that
/// sends many requests one after another is faster with its own connections.
pub fn with_own_connections<T>(work: impl FnOnce() -> T) -> T {
    /// Closes the thread's connections when it is dropped, also after a panic.
    struct End;
    impl Drop for End {
        fn drop(&mut self) {
            WANTED.set(false);
            if let Some(own) = OWN.take().and_then(Rc::into_inner) {
                // An ordinary drop would wait for a DNS lookup that still runs.
                own.runtime.shutdown_background();
            }
        }
    }
    WANTED.set(true);
    let _end = End;
    work()
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::sync::mpsc::channel;
    use std::thread;

    use object_store::client::{HttpRequest, HttpRequestBody};

    use super::*;

    #[test]
    fn a_connection_that_the_store_has_closed_is_not_used_again() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (close, closing) = channel();
        let (closed, is_closed) = channel();
        thread::spawn(move || {
            for connection in listener.incoming() {
                let mut connection = connection.unwrap();
                assert!(connection.read(&mut [0; 4096]).unwrap() > 0);
                connection.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").unwrap();
                let Ok(()) = closing.recv() else { return };
                drop(connection);
                closed.send(()).unwrap();
            }
        });
        with_own_connections(|| {
            for _ in 0..50 {
                let mut request = HttpRequest::new(HttpRequestBody::empty());
                *request.method_mut() = "POST".parse().unwrap();
                *request.uri_mut() = format!("http://127.0.0.1:{port}/").parse().unwrap();
                let answer = Own::find().unwrap().wait(async { Own::client().unwrap().execute(request).await });
                assert_eq!(answer.unwrap().status(), 200);
                close.send(()).unwrap();
                is_closed.recv().unwrap();
            }
        });
        assert!(Own::find().is_none());
    }
}
